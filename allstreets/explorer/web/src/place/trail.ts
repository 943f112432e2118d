// The latest path through the game: the steps back and forward.
//
// Lines are only compared, never read: the server says which line follows another.

export interface Way {
  line: string;
  steps: readonly { line: string }[];
}

/** The lines from the beginning to a place. */
export function linesTo(place: Way): string[] {
  const lines = [...place.steps.map((step) => step.line), place.line];
  // Two steps may be told at one line: cards that a model averages over need no place of their own.
  return lines.filter((line, at) => line !== lines[at - 1]);
}

/** The trail after arriving at a place: going back along it keeps what lies ahead. */
export function trailAfter(trail: readonly string[], place: Way): readonly string[] {
  const lines = linesTo(place);
  return lines.every((line, at) => line === trail[at]) ? trail : lines;
}

/**
 * Where a step back leads, from a line that is asked for while `place` is still shown.
 *
 * Keys are quicker than answers: what is asked for counts, where it lies behind the place. Where it
 * lies ahead, or leads nowhere, the place itself is what lies behind.
 */
export function lineBack(place: Way, asked: string, away: boolean): string | null {
  const lines = linesTo(place);
  const at = lines.indexOf(asked);
  if (at >= 0) return lines[at - 1] ?? null;
  return away ? place.line : (lines.at(-2) ?? null);
}

/** Where a step forward leads: along the trail, at its end to what is offered first. */
export function lineForward(
  trail: readonly string[],
  place: Way,
  offered: readonly { line: string }[],
): string | null {
  return trail[linesTo(place).length] ?? offered[0]?.line ?? null;
}

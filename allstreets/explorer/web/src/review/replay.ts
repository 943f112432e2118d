// A hand step by step: its decisions, and the notes on them.

import type { Schemas } from "../api/client";
import { fixed, often, plain } from "../common/format";
import type { Pressed } from "../place/keys";

export type Hand = Schemas["ReplayHand"];
export type Decision = Schemas["ReplayDecision"];

export type Command = "back" | "forward" | "up" | "down" | "list";

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["ArrowLeft", "back"],
  ["ArrowRight", "forward"],
  ["ArrowUp", "up"],
  ["ArrowDown", "down"],
  ["Escape", "list"],
]);

export const HELP = "← → between your decisions, ↑ ↓ between hands, Esc back to the table.";

export function commandOf(pressed: Pressed): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  return COMMANDS.get(pressed.key) ?? null;
}

/** The step at which a hand opens: the requested one, or else its costliest decision. */
export function openedAt(hand: Hand, at: number | null): number {
  if (at !== null && at >= 0 && at <= hand.steps.length) return at;
  const costliest = hand.decisions.reduce<Decision | null>(
    (best, one) => (best === null || (one.loss ?? -1) > (best.loss ?? -1) ? one : best),
    null,
  );
  return costliest?.place ?? 0;
}

/** The next step of the hero's, and at last the end of the hand; null: there is none. */
export function stepBeside(hand: Hand, at: number, way: 1 | -1): number | null {
  const stops = [...hand.decisions.map((one) => one.place), hand.steps.length];
  return way > 0
    ? (stops.find((stop) => stop > at) ?? null)
    : (stops.reverse().find((stop) => stop < at) ?? null);
}

const LEAST = 5e-4; // bb: smaller losses are not shown

/** Whether a decision lost something. */
export function isDear(one: Decision | undefined): boolean {
  return (one?.loss ?? 0) >= LEAST;
}

/** The meaning of a decision's accuracy. */
export const ACCURACY =
  "The most that a perfect answer could gain here, on average over the hands that reach it. " +
  "The loss of a single hand may be off by more: a smaller target makes it more precise.";

/** The cost of a decision, in a few words. */
export function verdict(one: Decision): string {
  if (one.loss === null) return one.note || "not graded";
  const option = one.options.find((each) => each.word === one.counted_as);
  const same = option ? `the solution does this ${often(option.frequency, 0)} of the time` : "";
  if (!isDear(one)) return `nothing lost; ${same}`;
  return `${fixed(one.loss, 3)} bb lost; ${same}`;
}

const DEPTH = "played "; // begins a note on the depth, which `distance` tells

/** What else there is to know about a decision. */
export function notesOf(hand: Hand, one: Decision): string[] {
  const own = one.loss === null ? [] : [one.note]; // its verdict is the note
  return [...own, ...hand.notes].filter((note) => note && !note.startsWith(DEPTH));
}

/** The distance of the solution from the played hand. */
export function distance(hand: Hand): string {
  const gap = hand.solution_stack / hand.stack - 1;
  const far = Math.abs(gap) < 0.005 ? "the same depth" : `${gap > 0 ? "+" : "−"}${fixed(100 * Math.abs(gap), 0)} %`;
  return `${hand.solution}, ${plain(hand.solution_stack)} bb for ${plain(hand.stack)} bb played: ${far}`;
}

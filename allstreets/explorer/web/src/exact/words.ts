// Flops that are solved exactly, in words for people.

import type { Schemas } from "../api/client";
import { bytes, duration, significant } from "../common/format";

// A flop stands between the bars of a line: "r2.5 c | QsJh2h | x".
const FLOP = /\|\s*(?:[2-9tjqka][cdhs][\s,]*){3}(?:\||$)/i;

/** Whether a line continues after a flop: only then is there something to solve. */
export function namesFlop(line: string): boolean {
  return FLOP.test(line);
}

/** The line to the deal of a line's flop; null: it names none. */
export function dealOf(line: string): string | null {
  return namesFlop(line) ? line.slice(0, line.indexOf("|")).trim() : null;
}

/**
 * Whether the strategy of a turn or river is one for any card: the strip has columns without cards.
 */
export function averages(place: Pick<Schemas["Place"], "steps"> | null): boolean {
  return Boolean(
    place?.steps.some((step) => step.kind === "cards" && !step.cards.length && isLater(step.street)),
  );
}

function isLater(street: Schemas["Place"]["street"]): boolean {
  return street === "turn" || street === "river";
}

export const AVERAGED =
  "Any card: this game was solved without turn and river cards. A hand wins its mean equity over all " +
  "of them, so a decision is the same for every card.";

type Cost = Pick<
  Schemas["ExactFlop"],
  "memory_bytes" | "seconds" | "sparing"
>;

/** The meaning and the cost of solving. */
export function costOf({ memory_bytes: memory, seconds, sparing }: Cost): string {
  const takes = [
    memory === null ? "" : `about ${bytes(memory)}`,
    seconds === null ? "" : `about ${duration(seconds)} in all, a draft in seconds`,
    sparing && `to fit into memory, ${sparing}`,
  ].filter(Boolean);
  const what = "Real combos, every turn and river, for the ranges that get here";
  return takes.length ? `${what}: ${takes.join("; ")}.` : `${what}.`;
}

/** The accuracy of a draft, by a best response with real cards. */
export function draftOf(exploitability: number | null): string {
  return `Draft, within ${significant(exploitability, 2)} % of pot.`;
}

/** The progress of a flop's solve: "2.1 % of pot after 40 iterations, about 1 min left". */
export function wayOf(
  progress: { exploitability: number | null; iteration: number; eta_seconds: number | null } | null,
): string {
  if (progress === null || progress.exploitability === null) return "getting ready";
  const left = progress.eta_seconds === null ? "" : `, about ${duration(progress.eta_seconds)} left`;
  return `${significant(progress.exploitability, 2)} % of pot after ${progress.iteration} iterations${left}`;
}

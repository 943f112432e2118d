// Locks in words, and the differences that they make.

import type { Schemas } from "../api/client";
import { signed } from "../common/format";

export type Way = Schemas["LockForm"]["way"];
export type Pair = Schemas["Pair"];

export const WAYS: readonly { way: Way; label: string; hint: string }[] = [
  { way: "always", label: "Always one action", hint: "Every hand of the range takes it." },
  {
    way: "at_most",
    label: "At most",
    hint: "At most this frequency over the range; hands that lose least move first.",
  },
  {
    way: "at_least",
    label: "At least",
    hint: "At least this frequency; hands that lose least move first.",
  },
  { way: "exactly", label: "Exactly", hint: "Exactly this frequency; hands that lose least move first." },
  { way: "hands", label: "Some hands", hint: "The painted hands take it; other hands are free." },
  {
    way: "observed",
    label: "Observed",
    hint: "Frequencies of any nodes, as CSV: node, action, frequency (30%, 0.3, <=30%).",
  },
  { way: "as_is", label: "As it is now", hint: "The range plays as it does in this solution." },
];

/** The ways to lock a decision: where a game has no combos, it is locked with all hands. */
export function waysAt(byHand: boolean): typeof WAYS {
  return byHand ? WAYS : WAYS.filter((one) => one.way !== "hands");
}

/** Observed frequencies, as people write them. */
export const EXAMPLES = {
  spot: "node,action,frequency\nx,b75%,<=30%\nx b75%,fold,55%",
  game: "node,action,frequency\nr2.5,fold,55%\nr2.5 c | * | x,b50%,>=70%",
};

/** Whether a way gives the frequency of an action. */
export function counts(way: Way): boolean {
  return way === "at_most" || way === "at_least" || way === "exactly";
}

/** Whether a way is about an action of the decision. */
export function acts(way: Way): boolean {
  return way !== "as_is" && way !== "observed";
}

/** The reason why a lock cannot be requested yet; "": it can. */
export function missing(
  way: Way,
  percent: number | null,
  hands: readonly string[],
  text: string,
): string {
  if (counts(way) && !(percent !== null && percent >= 0 && percent <= 100))
    return "Give a frequency from 0 to 100 %.";
  if (way === "hands" && !hands.length) return "Paint the hands to lock.";
  if (way === "observed" && !text.trim()) return "Paste the frequencies, or choose a file.";
  return "";
}

/** Whether an action matters: taken now and then before or after. */
export function matters(frequency: Pair): boolean {
  return Math.max(frequency.before ?? 0, frequency.after ?? 0) >= 0.0005;
}

/** The change of a figure, with its sign. */
export function change(pair: Pair, digits: number, factor = 1): string {
  const { before, after } = pair;
  return signed(before === null || after === null ? null : factor * (after - before), digits);
}

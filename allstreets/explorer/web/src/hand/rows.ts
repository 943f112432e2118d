// The rows of a hand: its cards, and its best action.

import { significant } from "../common/format";

/** The two cards of a combo; none where a row stands for a whole hand: "AKs". */
export function comboCards(text: string): string[] {
  return /^([2-9TJQKA][cdhs]){2}$/.test(text) ? [text.slice(0, 2), text.slice(2)] : [];
}

/** A number of combos: 1326.0, 12.5, small ones with significant digits, 0.012. */
export function combosText(combos: number): string {
  if (combos > 0 && combos < 0.001) return "<0.001";
  return combos > 0 && combos < 0.95 ? significant(combos, 2) : combos.toFixed(1);
}

/** The place of the largest number; null where none is known. */
export function best(evs: readonly (number | null)[]): number | null {
  let found: number | null = null;
  evs.forEach((ev, place) => {
    if (ev !== null && (found === null || ev > (evs[found] ?? -Infinity))) found = place;
  });
  return found;
}

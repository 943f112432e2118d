// Cells of the grid with the hands of one category: the others are dimmed.

import type { Cell } from "../grid/cells";
import { GRID_HANDS } from "../common/cards";

/** `shares` are those of each hand's combos that are of the category, in the order of `hands`. */
export function dimmed(
  cells: readonly Cell[],
  hands: readonly string[],
  shares: readonly number[] | null,
  name: string,
): Cell[] {
  if (!shares) return [...cells];
  const places = new Map(hands.map((hand, place) => [hand, place]));
  return cells.map((cell, at) => {
    const share = shares[places.get(GRID_HANDS[at] ?? "") ?? -1] ?? 0;
    if (share > 0) return { ...cell, height: cell.height * share };
    const label = `${cell.hand}: not ${name}`;
    return { ...cell, reached: false, background: "none", height: 0, ink: "look", text: "", label };
  });
}

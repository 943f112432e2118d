// Painting a range: the cells of a stroke, and its effect on them.

import { GRID_HANDS, RANKS } from "../common/cards";

export type Weights = Readonly<Record<string, number>>; // hand → 0 … 1; one that is not there: 0

/**
 * The weight that a stroke leaves behind, from the cell that it begins with: a cell that has the
 * weight of the brush already is cleared, and so are all that follow; any other is painted.
 */
export function strokeWeight(begins: number, brush: number): number {
  return Math.abs(begins - brush) < 0.005 ? 0 : brush;
}

function cellOf(hand: string): [number, number] {
  const cell = GRID_HANDS.indexOf(hand);
  return [Math.floor(cell / RANKS.length), cell % RANKS.length];
}

function handIn(row: number, column: number): string {
  return GRID_HANDS[row * RANKS.length + column] ?? "";
}

/** The hands from one cell to another in a straight line: a fast pointer leaves cells out. */
export function handsBetween(from: string, to: string): string[] {
  const [[row, column], [lastRow, lastColumn]] = [cellOf(from), cellOf(to)];
  const steps = Math.max(Math.abs(lastRow - row), Math.abs(lastColumn - column));
  if (steps === 0) return [from];
  return Array.from({ length: steps + 1 }, (_, step) =>
    handIn(
      Math.round(row + ((lastRow - row) * step) / steps),
      Math.round(column + ((lastColumn - column) * step) / steps),
    ),
  );
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** The cell that a key leads to, at the edge the same one; null: the key leads nowhere. */
export function handAfterKey(hand: string, key: string): string | null {
  const [row, column] = cellOf(hand);
  if (key === "Home") return handIn(row, 0);
  if (key === "End") return handIn(row, RANKS.length - 1);
  const move = MOVES[key];
  if (!move) return null;
  const inside = (place: number): number => Math.min(RANKS.length - 1, Math.max(0, place));
  return handIn(inside(row + move[0]), inside(column + move[1]));
}

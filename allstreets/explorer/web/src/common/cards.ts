// Cards and hands as they are drawn. Their values come from the server.

export const RANKS = [..."AKQJT98765432"];
export const SUITS = [..."shdc"];
export const SYMBOLS: Record<string, string> = { s: "♠", h: "♥", d: "♦", c: "♣" };
export const DECK = RANKS.flatMap((rank) => SUITS.map((suit) => rank + suit));

/** The name of the hand in a cell of the grid: pairs on the diagonal, suited above it. */
export function handAt(row: number, column: number): string {
  const [high, low] = [RANKS[Math.min(row, column)] ?? "", RANKS[Math.max(row, column)] ?? ""];
  if (row === column) return high + low;
  return high + low + (row < column ? "s" : "o");
}

/** The cells of the grid, row by row. */
export const GRID_HANDS = RANKS.flatMap((_, row) => RANKS.map((_, column) => handAt(row, column)));

/** Cards written together, "AhKd7s", taken apart. */
export function splitCards(text: string): string[] {
  return text.match(/[2-9TJQKA][cdhs]/g) ?? [];
}

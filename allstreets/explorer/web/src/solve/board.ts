// The board as text and as cards.

export const MOST_CARDS = 5;

/** The cards in a text, in any case and with any separators: "ah kd,7S" → Ah Kd 7s. */
export function boardCards(text: string): string[] {
  const found = text.match(/[2-9tjqka][cdhs]/gi) ?? [];
  const cards = found.map((card) => card.charAt(0).toUpperCase() + card.charAt(1).toLowerCase());
  return [...new Set(cards)].slice(0, MOST_CARDS);
}

/** The text as boards are written, if it is nothing but cards: "ah kd,7S" → AhKd7s. */
export function tidied(text: string): string {
  const cards = boardCards(text);
  const letters = text.replace(/[\s,]/g, "").length;
  // Leftovers, repeated cards and too many cards stay: the server reports them.
  return letters === 2 * cards.length ? cards.join("") : text;
}

/** The board's text after a click on a card: it is removed, or added if there is room. */
export function toggled(text: string, card: string): string {
  const cards = boardCards(text);
  if (cards.includes(card)) return cards.filter((one) => one !== card).join("");
  return cards.length < MOST_CARDS ? [...cards, card].join("") : cards.join("");
}

/** The street of a board in words, or the missing cards. */
export function boardWord(cards: number): string {
  if (cards === 0) return "pick three to five cards";
  if (cards < 3) return `${3 - cards} more for a flop`;
  return ["flop", "turn", "river"][cards - 3] ?? "";
}

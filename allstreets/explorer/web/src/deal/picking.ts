// Which cards can be picked, and what stands for what.

import type { Schemas } from "../api/client";

export interface Pickable {
  disabled: string[];
  dimmed: string[];
  hints: Record<string, string>;
}

/** How the picker shows the cards of a turn or river. */
export function pickable(options: readonly Schemas["CardOption"][]): Pickable {
  const twins = options.filter((option) => option.line !== null && option.same_as !== null);
  return {
    disabled: options.filter((option) => option.line === null).map((option) => option.card),
    dimmed: twins.map((option) => option.card),
    hints: Object.fromEntries(
      twins.map((option) => [
        option.card,
        `${option.card}: played as ${option.same_as} with suits renamed`,
      ]),
    ),
  };
}

/** The cards after one more was picked: again takes it back, one too many begins anew. */
export function picked(cards: readonly string[], card: string, count: number): string[] {
  if (cards.includes(card)) return cards.filter((one) => one !== card);
  return cards.length >= count ? [card] : [...cards, card];
}

/** The line to a flop, by the pattern that the server gave. */
export function lineOf(pattern: string, cards: readonly string[]): string {
  return pattern.replace("{cards}", () => cards.join(""));
}

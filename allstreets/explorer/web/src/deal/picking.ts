// The cards that can be picked, and the cards that represent others.

import type { Schemas } from "../api/client";
import { DECK, splitCards, SUITS } from "../common/cards";

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

const SPELLINGS = permutations([...SUITS]);

/** Flops in all their spellings, cards in the order of the deck. */
export function spelled(flops: readonly string[]): readonly (readonly string[])[] {
  return flops.flatMap((flop) =>
    SPELLINGS.map((suits) =>
      splitCards(flop).map((card) => card.charAt(0) + (suits[SUITS.indexOf(card.charAt(1))] ?? "")),
    ),
  );
}

function permutations(of: readonly string[]): string[][] {
  if (!of.length) return [[]];
  return of.flatMap((first) =>
    permutations(of.filter((one) => one !== first)).map((rest) => [first, ...rest]),
  );
}

/**
 * How the picker shows the deck while a flop is picked: cards that lead to none of the `flops` that
 * there are can only be picked where a flop may be solved now. No flops: all of them are there.
 */
export function flopCards(
  flops: readonly (readonly string[])[],
  chosen: readonly string[],
  solvable: boolean,
): Pickable {
  if (!flops.length || chosen.length >= 3) return { disabled: [], dimmed: [], hints: {} };
  const near = flops.filter((flop) => chosen.every((card) => flop.includes(card)));
  const lead = new Set([...chosen, ...near.flat()]);
  const away = DECK.filter((card) => !lead.has(card));
  const hint = solvable
    ? "leads to a flop that is not stored: it can be solved exactly"
    : "leads to no flop that is stored";
  return {
    disabled: solvable ? [] : away,
    dimmed: solvable ? away : [],
    hints: Object.fromEntries(away.map((card) => [card, `${card} ${hint}`])),
  };
}

/** The cards after a pick: a second pick takes a card back, one too many starts again. */
export function picked(cards: readonly string[], card: string, count: number): string[] {
  if (cards.includes(card)) return cards.filter((one) => one !== card);
  return cards.length >= count ? [card] : [...cards, card];
}

/** The line to a flop, by the pattern that the server gave. */
export function lineOf(pattern: string, cards: readonly string[]): string {
  return pattern.replace("{cards}", () => cards.join(""));
}

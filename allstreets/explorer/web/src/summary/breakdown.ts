// A range by kinds of hands: how much of it each kind is, and what it does.

import type { Schemas } from "../api/client";

export interface Part {
  name: string;
  combos: number; // that get here
  share: number; // of the range, 0 … 1
  chances: readonly (number | null)[]; // [A]: how often each action is taken; empty: nobody acts
}

/** How much of each of the 169 hands belongs to a kind, 0 … 1. */
export interface Kind {
  name: string;
  holds: (hand: string, place: number) => number;
}

/** What every board and every model can tell apart. */
export const SHAPES: readonly Kind[] = [
  { name: "Pairs", holds: (hand) => Number(hand.length === 2) },
  { name: "Suited", holds: (hand) => Number(hand.endsWith("s")) },
  { name: "Offsuit", holds: (hand) => Number(hand.endsWith("o")) },
];

/** A range in parts, those that hold nothing left out; shares and means are by combos that get here. */
export function breakdown(
  hands: readonly string[],
  grid: Pick<Schemas["PlayerGrid"], "combos" | "reach">,
  actions: readonly Pick<Schemas["ActionFigures"], "chances">[],
  kinds: readonly Kind[] = SHAPES,
): Part[] {
  const weights = hands.map((_, place) => (grid.combos[place] ?? 0) * (grid.reach[place] ?? 0));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return kinds
    .map(({ name, holds }) => {
      const held = weights.map((weight, place) => weight * holds(hands[place] ?? "", place));
      const combos = held.reduce((sum, weight) => sum + weight, 0);
      const chances = actions.map((action) => mean(held, action.chances));
      return { name, combos, share: total > 0 ? combos / total : 0, chances };
    })
    .filter((part) => part.combos > 0);
}

/** The mean of what is known, by weight; null where nothing is. */
function mean(weights: readonly number[], values: readonly (number | null)[]): number | null {
  let [sum, known] = [0, 0];
  weights.forEach((weight, place) => {
    const value = values[place];
    if (value === null || value === undefined || weight <= 0) return;
    sum += weight * value;
    known += weight;
  });
  return known > 0 ? sum / known : null;
}

// Hands of the grid that players name in one word.

import { GRID_HANDS, RANKS } from "../common/cards";

export interface HandGroup {
  label: string;
  hands: string[];
}

function group(label: string, belongs: (hand: string) => boolean): HandGroup {
  return { label, hands: GRID_HANDS.filter(belongs) };
}

function height(rank: string | undefined): number {
  return RANKS.length - RANKS.indexOf(rank ?? "");
}

function isPair(hand: string): boolean {
  return hand[0] === hand[1];
}

const TEN = height("T");

export const HAND_GROUPS: readonly HandGroup[] = [
  group("All", () => true),
  group("Pairs", isPair),
  group("Suited", (hand) => hand.endsWith("s")),
  group("Broadways", (hand) => !isPair(hand) && height(hand[0]) >= TEN && height(hand[1]) >= TEN),
  group("Suited aces", (hand) => hand.startsWith("A") && hand.endsWith("s")),
  group(
    "Connectors",
    (hand) => hand.endsWith("s") && height(hand[0]) - height(hand[1]) === 1,
  ),
];

// A range text as a grid, in the page: the tokens that the server writes itself, such as
// "QQ+,A9s-A6s,AhKh:0.2". Other texts, and those with mistakes, are left to the server, which
// reads every kind. What is read here, the server reads in the same way: range-texts.json.

import { GRID_HANDS, RANKS, SUITS } from "../common/cards";
import type { Weights } from "./painting";

export interface Grid {
  weights: Weights; // the mean over the combos of each hand
  mixed: readonly string[]; // hands whose combos differ
  combos: number;
  percent: number; // of all combos
}

const LETTERS = /^[\w.,:;%+\- \t\r\n]*$/; // anything else is another kind of text, or a mistake
const WEIGHT = /^(\d+\.?\d*|\.\d+)(?:e([+-]?\d{1,3}))?(%?)$/i;
const HAND = /^([2-9TJQKA])([2-9TJQKA])([SO]?)$/;
const COMBO = /^([2-9TJQKA])([CDHS])([2-9TJQKA])([CDHS])$/;

type Kind = "s" | "o" | ""; // "": both, and pairs
type Pattern = readonly [high: number, low: number, kind: Kind]; // ranks: 0 is the ace

/** The names of all combos of a hand, the card that comes first in the deck first. */
function combosOf(hand: string): string[] {
  const [high, low, kind] = [hand[0] ?? "", hand[1] ?? "", hand[2] ?? ""];
  return SUITS.flatMap((first, place) =>
    SUITS.filter((second, other) =>
      kind === "s" ? first === second : kind === "o" ? first !== second : place < other,
    ).map((second) => high + first + low + second),
  );
}

const COMBOS = new Map(GRID_HANDS.map((hand) => [hand, combosOf(hand)]));
const ALL = [...COMBOS.values()].reduce((sum, combos) => sum + combos.length, 0);

/** The grid of a text; null where only the server can read it. */
export function readRange(text: string): Grid | null {
  const weights = weightsOf(text);
  return weights && gridOf(weights);
}

/** The text with other weights for some hands: a hand that is named again has the later one. */
export function painted(text: string, changes: Weights): string {
  const tokens = Object.entries(changes).map(([hand, weight]) =>
    weight === 1 ? hand : `${hand}:${weight}`,
  );
  return [text.replace(/[\s,;]+$/, ""), ...tokens].filter(Boolean).join(",");
}

function gridOf(weights: ReadonlyMap<string, number>): Grid {
  const [mean, mixed]: [Record<string, number>, string[]] = [{}, []];
  let sum = 0;
  for (const [hand, combos] of COMBOS) {
    const held = combos.map((combo) => weights.get(combo) ?? 0);
    const total = held.reduce((one, other) => one + other, 0);
    const alike = held.every((weight) => weight === held[0]);
    mean[hand] = alike ? (held[0] ?? 0) : total / held.length;
    if (!alike) mixed.push(hand);
    sum += total;
  }
  return { weights: mean, mixed, combos: sum, percent: (100 * sum) / ALL };
}

/** The weights of combos; one that is not there has none. */
function weightsOf(text: string): Map<string, number> | null {
  const weights = new Map<string, number>();
  if (!/[^ \t\r\n,]/.test(text)) return weights; // no text is the empty range
  if (!LETTERS.test(text)) return null;
  const tokens = text.replace(/\s*([-:])\s*/g, "$1").match(/[^\s,;]+/g) ?? [];
  for (const token of tokens) {
    const [body = "", written] = token.split(/:(.*)/);
    const weight = written === undefined ? 1 : weightOf(written);
    const combos = combosNamed(body.toUpperCase());
    if (weight === null || combos === null) return null;
    for (const combo of combos) weights.set(combo, weight);
  }
  return tokens.length > 0 ? weights : null;
}

/** Per cents are shifted as decimals, so that none is rounded. */
function weightOf(text: string): number | null {
  const [, digits, exponent, sign] = WEIGHT.exec(text) ?? [];
  if (digits === undefined) return null;
  const weight = Number(`${digits}e${Number(exponent ?? 0) - (sign ? 2 : 0)}`);
  return weight <= 1 ? weight : null;
}

/** The combos of a token without its weight: "ASKH", "AKS", "TT+". */
function combosNamed(token: string): string[] | null {
  const combo = COMBO.exec(token);
  if (combo) {
    const [, rank = "", suit = "", other = "", second = ""] = combo;
    const cards = [rank + suit.toLowerCase(), other + second.toLowerCase()];
    const [first = "", last = ""] = cards.sort((a, b) => place(a) - place(b));
    return first === last ? null : [first + last];
  }
  return patternsOf(token)?.flatMap(handsOf).flatMap((hand) => COMBOS.get(hand) ?? []) ?? null;
}

function place(card: string): number {
  return RANKS.indexOf(card[0] ?? "") * SUITS.length + SUITS.indexOf(card[1] ?? "");
}

function handsOf([high, low, kind]: Pattern): string[] {
  const name = (RANKS[high] ?? "") + (RANKS[low] ?? "");
  if (high === low) return [name];
  return kind ? [name + kind] : [`${name}s`, `${name}o`];
}

function patternsOf(token: string): Pattern[] | null {
  const [begin = "", end] = token.split(/-(.*)/);
  if (end !== undefined) {
    const [first, last] = [handOf(begin), handOf(end)];
    return first && last && between(first, last);
  }
  const hand = handOf(token.replace(/\+$/, ""));
  if (!hand || !token.endsWith("+")) return hand && [hand];
  const [high, low, kind] = hand;
  // Pairs and connectors climb with both ranks, others with the kicker.
  if (low - high <= 1) return span(0, high).map((rank) => [rank, rank + low - high, kind]);
  return span(high + 1, low).map((kicker) => [high, kicker, kind]);
}

function between(first: Pattern, last: Pattern): Pattern[] | null {
  const [[high, low, kind], [otherHigh, otherLow, otherKind]] = [first, last];
  if (kind !== otherKind) return null;
  const gap = low - high;
  if (gap === otherLow - otherHigh) {
    return span(high, otherHigh).map((rank) => [rank, rank + gap, kind]);
  }
  if (high !== otherHigh || gap === 0 || otherLow === high) return null;
  return span(low, otherLow).map((kicker) => [high, kicker, kind]);
}

/** All ranks from one to another, whichever is the higher. */
function span(first: number, last: number): number[] {
  const [least, most] = [Math.min(first, last), Math.max(first, last)];
  return Array.from({ length: most - least + 1 }, (_, step) => least + step);
}

function handOf(text: string): Pattern | null {
  const [, one, other, kind] = HAND.exec(text) ?? [];
  if (one === undefined || other === undefined) return null;
  const [high = 0, low = 0] = [RANKS.indexOf(one), RANKS.indexOf(other)].sort((a, b) => a - b);
  if (high === low && kind) return null;
  return [high, low, (kind ?? "").toLowerCase() as Kind];
}

// The list of solutions: what fits a filter, which spots belong together, how old things are.

import type { Schemas } from "../api/client";
import { looking, type Looking } from "../app/address";
import { verdict, type Trust } from "../common/worth";
import { ordered, type Order } from "../report/table";

type SolutionCard = Schemas["SolutionCard"];

/** The boards of one spot of a set. */
export interface Boards {
  name: string;
  cards: readonly SolutionCard[];
  to: Looking | null; // the table over its boards, or its only board; null: none is solved
}

/** A solution in the list, or a set of spots with those that fit the filter. */
export interface Entry {
  card: SolutionCard;
  spots: readonly Boards[]; // none: it is no set
  count: number; // spots of the set, whether they fit or not
  part: boolean; // only some of its spots fit
  where: string; // the name of its folder where another entry reads the same; "": none does
}

const UNFINISHED = "not finished yet";

/** What fits a text: every word of it occurs there. Spots of a set stand below their set. */
export function listed(cards: readonly SolutionCard[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (...found: readonly SolutionCard[]): boolean => {
    const all = found.map(wordsOf).join(" ");
    return words.every((word) => all.includes(word));
  };
  const sets = new Map<string, SolutionCard[]>();
  for (const { kind, id } of cards) if (kind === "spots") sets.set(id, []);
  for (const card of cards) sets.get(card.part_of ?? "")?.push(card);
  const entries: Entry[] = [];
  for (const card of cards) {
    if (card.part_of !== null && sets.has(card.part_of)) continue;
    const all = sets.get(card.id) ?? [];
    const part = !fits(card);
    const some = part ? all.filter((spot) => fits(card, spot)) : all;
    if (part && !some.length) continue;
    entries.push({ card, spots: boardsOf(card, some), count: all.length, part, where: "" });
  }
  const reads = ({ card }: Entry): string => `${card.name}\n${card.title}`;
  const times = new Map<string, number>();
  for (const entry of entries) times.set(reads(entry), (times.get(reads(entry)) ?? 0) + 1);
  return entries.map((entry) =>
    times.get(reads(entry)) === 1 ? entry : { ...entry, where: folderName(entry.card.folder) },
  );
}

function folderName(folder: string): string {
  return folder.split(/[\\/]/).filter(Boolean).at(-1) ?? folder;
}

const TRUST: readonly Trust[] = ["good", "fair", "poor", "unknown"];

/** Entries by a column; exploitability first by how far it can be trusted, as its units differ. */
export function sortedEntries(entries: readonly Entry[], { key, down }: Order): Entry[] {
  const byWorth = ordered(entries, ({ card }) => card.real?.exploitability ?? card.exploitability, false);
  if (key === "exploitability")
    return ordered(byWorth, ({ card }) => TRUST.indexOf(verdict(card).trust), down);
  const value = ({ card }: Entry): number | string | null => {
    if (key === "name") return card.name;
    if (key === "kind") return card.kind;
    if (key === "game") return card.title;
    if (key === "iterations") return card.iterations;
    return key === "bytes" ? card.bytes : card.modified;
  };
  return ordered(entries, value, down);
}

/** Where a solution opens: a set with the table over its boards. */
export function opens({ card, spots }: Entry): Looking | null {
  if (card.kind === null) return null;
  if (card.kind !== "spots") return looking(card.id);
  const tables = spots.flatMap((one) => (one.to ? [one.to] : []));
  return tables.find((to) => to.tab === "flops") ?? tables[0] ?? null;
}

function wordsOf(card: SolutionCard): string {
  return [card.name, card.note, card.title, card.kind, card.folder].join(" ").toLowerCase();
}

/** The spots of a set by name, each in the order in which its boards were asked for. */
function boardsOf(set: SolutionCard, spots: readonly SolutionCard[]): Boards[] {
  const left = new Map(spots.map((card) => [card.id, card]));
  const found: Boards[] = [];
  for (const { name, solutions } of set.tables) {
    const cards = solutions.flatMap((id) => left.get(id) ?? []);
    for (const { id } of cards) left.delete(id);
    const first = cards.find((card) => card.kind !== null);
    if (!cards.length) continue;
    const to = first ? looking(first.id) : null;
    found.push({ name, cards, to: to && solutions.length > 1 ? { ...to, tab: "flops" } : to });
  }
  if (left.size) found.push({ name: UNFINISHED, cards: [...left.values()], to: null });
  return found;
}

const STEPS: readonly (readonly [number, string])[] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/** How long ago something was, both in seconds since 1970. */
export function age(then: number, now: number): string {
  const seconds = now - then;
  for (const [length, name] of STEPS) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

// The list of solutions: filters, spots that belong together, and ages.

import type { Schemas } from "../api/client";
import { looking, type Looking } from "../app/address";
import { verdict, type Trust } from "../common/worth";
import { ordered, type Order } from "../report/table";

type SolutionCard = Schemas["SolutionCard"];

const KINDS: Readonly<Record<string, string>> = {
  unified: "whole game",
  postflop: "flops",
  preflop: "preflop",
};

/** The kind of a solution, as players say. */
export function kindOf({ kind }: SolutionCard): string | null {
  return kind && (KINDS[kind] ?? kind);
}

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
  copies: readonly SolutionCard[]; // the same solution in other folders, older ones
}

/** Entries that lie in one folder. */
export interface Folder {
  name: string; // from where the opened folders part: "tournament"; "": they lie directly there
  entries: readonly Entry[];
}

const SOLVED = "solution"; // the folder inside that of a solve
const UNFINISHED = "not finished yet";

/** The entries that match a text: every word of it occurs in them. Spots are below their set. */
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
    entries.push({
      card,
      spots: boardsOf(card, some),
      count: all.length,
      part,
      where: "",
      copies: [],
    });
  }
  return named(merged(entries));
}

/** Copies of one solution are one entry, that of the newest. */
function merged(entries: readonly Entry[]): Entry[] {
  const alike = new Map<string, SolutionCard[]>();
  for (const { card } of [...entries].sort((one, other) => other.card.modified - one.card.modified)) {
    const key = sameness(card);
    if (key !== null) alike.set(key, [...(alike.get(key) ?? []), card]);
  }
  return entries.flatMap((entry) => {
    const key = sameness(entry.card);
    if (key === null) return [entry];
    const [newest, ...copies] = alike.get(key) ?? [];
    return newest === entry.card ? [{ ...entry, copies }] : [];
  });
}

/** The key that copies of a solution share: game, iterations, quality; null: not known. */
function sameness(card: SolutionCard): string | null {
  const { kind, name, title, iterations, exploitability, note } = card;
  if (kind === null || kind === "spots" || exploitability === null || iterations === null) return null;
  return JSON.stringify([kind, name, title, iterations, exploitability, note]);
}

function named(entries: readonly Entry[]): Entry[] {
  const reads = ({ card }: Entry): string => `${card.name}\n${card.title}`;
  const times = new Map<string, number>();
  for (const entry of entries) times.set(reads(entry), (times.get(reads(entry)) ?? 0) + 1);
  return entries.map((entry) =>
    times.get(reads(entry)) === 1 ? entry : { ...entry, where: folderName(entry.card.folder) },
  );
}

/** Entries by their folder, folders by name, in the order of the entries. */
export function byFolder(entries: readonly Entry[]): Folder[] {
  const above = entries.map(({ card }) => homeOf(card.folder));
  const [first = [], ...rest] = above;
  const apart = first.findIndex((part, at) => rest.some((other) => other[at] !== part));
  const shared = apart === -1 ? first.length : apart;
  const folders = new Map<string, Entry[]>();
  for (const [at, entry] of entries.entries()) {
    const name = (above[at] ?? []).slice(shared).join("/");
    folders.set(name, [...(folders.get(name) ?? []), entry]);
  }
  return [...folders]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, within]) => ({ name, entries: within }));
}

/** The folder in which users look for a solution: solves have their own folder inside. */
function homeOf(folder: string): string[] {
  const all = parts(folder);
  return all.slice(0, all.at(-1) === SOLVED ? -2 : -1);
}

function parts(folder: string): string[] {
  return folder.split(/[\\/]/).filter(Boolean);
}

/** The folders of a solution's copies, in words. */
export function copiesText({ copies }: Entry): string {
  const names = copies.map(({ folder }) => folderName(folder));
  return names.length === 0 ? "" : `also in ${names.join(", ")}`;
}

function folderName(folder: string): string {
  return parts(folder).at(-1) ?? folder;
}

const TRUST: readonly Trust[] = ["good", "fair", "poor", "unknown"];

/** Entries by a column; exploitability first by how far it can be trusted, as its units differ. */
export function sortedEntries(entries: readonly Entry[], { key, down }: Order): Entry[] {
  const byWorth = ordered(entries, ({ card }) => card.real?.exploitability ?? card.exploitability, false);
  if (key === "exploitability")
    return ordered(byWorth, ({ card }) => TRUST.indexOf(verdict(card).trust), down);
  const value = ({ card }: Entry): number | string | null => {
    if (key === "name") return card.name;
    if (key === "kind") return kindOf(card);
    if (key === "game") return card.title;
    if (key === "iterations") return card.iterations;
    return key === "bytes" ? card.bytes : card.modified;
  };
  return ordered(entries, value, down);
}

/** The page of a solution: for a set the table over its boards. */
export function opens({ card, spots }: Entry): Looking | null {
  if (card.kind === null) return null;
  if (card.kind !== "spots") return looking(card.id);
  const tables = spots.flatMap((one) => (one.to ? [one.to] : []));
  return tables.find((to) => to.tab === "flops") ?? tables[0] ?? null;
}

function wordsOf(card: SolutionCard): string {
  return [card.name, card.note, card.title, card.kind, kindOf(card), card.folder].join(" ").toLowerCase();
}

/** The spots of a set by name, each in the order of its requested boards. */
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

/** The age of something, both times in seconds since 1970. */
export function age(then: number, now: number): string {
  const seconds = now - then;
  for (const [length, name] of STEPS) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

// The decisions of a review: the shown ones, their totals, and their hands.

import type { Schemas } from "../api/client";
import { count } from "../common/format";

export type Row = Schemas["ReviewRow"];
export type Total = Schemas["ReviewTotal"];

export const KINDS = ["street", "pot", "action"] as const;
export type Kind = (typeof KINDS)[number];
/** "": any. */
export type Filter = Readonly<Record<Kind, string>> & { readonly least: number };

export const ANY: Filter = { street: "", pot: "", action: "", least: 0 };

const NAMED = 3; // solutions

/** The solutions that grade a review, in a few words. */
export function gradersOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 1 ? `${names.slice(0, NAMED).join(", ")} and ${more} more` : names.join(", ");
}

/** The selected decisions; the loss of an ungraded one is not known. */
export function filtered(rows: readonly Row[], filter: Filter): Row[] {
  return rows.filter(
    (row) =>
      KINDS.every((kind) => filter[kind] === "" || row[kind] === filter[kind]) &&
      (filter.least <= 0 || (row.loss ?? 0) >= filter.least),
  );
}

/** The losses by a kind, in the order of the totals, relative to the largest. */
export interface Bar {
  name: string;
  total: Total;
  share: number; // 0 … 1
}

export function barsOf(totals: readonly Total[], kind: Kind): Bar[] {
  const some = totals.filter((total) => total.by === kind);
  const most = Math.max(...totals.filter((one) => one.by !== "all").map((one) => one.loss), 1e-12);
  return some.map((total) => ({ name: total.name, total, share: total.loss / most }));
}

/** The names of a kind, in the order of the totals. */
export function namesOf(totals: readonly Total[], kind: Kind): string[] {
  return totals.filter((total) => total.by === kind).map((total) => total.name);
}

/** The hands of decisions, each once, in the order of the decisions. */
export function handsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map((row) => row.hand))];
}

/** The hand before or after another one; null: there is none. One that is not listed: the first. */
export function beside(hands: readonly string[], hand: string, way: 1 | -1): string | null {
  const at = hands.indexOf(hand);
  return hands[at < 0 ? 0 : at + way] ?? null;
}

/** The reasons for missing hands or decisions, their counts, and the place of the first. */
export function missing(one: Schemas["ReviewReason"]): string {
  return `${count(one.count)} × ${one.reason}${one.place ? ` (${one.place})` : ""}`;
}

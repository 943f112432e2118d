// Flops in groups of a texture: means by how often their hands are dealt.

import { eqr } from "./eqr";
import type { FlopRow } from "./table";
import type { Kind } from "./filter";

export type Grouping = Kind | "texture";
export const GROUPINGS: readonly Grouping[] = [
  "suits",
  "pairing",
  "connectedness",
  "high_card",
  "texture",
];

/** A group of flops, or of hands, in the figures of a row. */
export interface Group {
  name: string;
  count: number; // of flops
  weight: number; // of all hands that get to the decision
  frequencies: (number | null)[];
  ev_oop: number | null;
  ev_ip: number | null;
  equity_oop: number | null;
  equity_ip: number | null;
  eqr_oop: number | null;
  eqr_ip: number | null;
}

/** The facts of a decision that groups of flops need. */
export interface Whole {
  actions: readonly unknown[];
  pot: number;
  paid: Readonly<Record<string, number>>;
}

// From the wet end to the dry one, from the highest card down.
const ORDER = [
  "monotone",
  "two-tone",
  "rainbow",
  "unpaired",
  "paired",
  "trips",
  "connected",
  "semi-connected",
  "disconnected",
  ..."AKQJT98765432",
];

export function groupName(row: FlopRow, by: Grouping): string {
  return by === "texture"
    ? [row.suits, row.pairing, row.connectedness].join(" ")
    : row[by];
}

function rank(name: string): number {
  return name.split(" ").reduce((total, word) => ORDER.length * total + ORDER.indexOf(word), 0);
}

/** The weighted mean of known values; null if there are none. */
export function meanOf(
  rows: readonly FlopRow[],
  value: (row: FlopRow) => number | null | undefined,
): number | null {
  let [sum, weights] = [0, 0];
  for (const row of rows) {
    const one = value(row);
    if (one === null || one === undefined) continue;
    sum += row.weight * one;
    weights += row.weight;
  }
  return weights > 0 ? sum / weights : null;
}

export function groupsOf(rows: readonly FlopRow[], by: Grouping, report: Whole): Group[] {
  const found = new Map<string, FlopRow[]>();
  for (const row of rows) {
    const name = groupName(row, by);
    found.set(name, [...(found.get(name) ?? []), row]);
  }
  return [...found]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([name, some]) => groupOf(name, some, report));
}

export function groupOf(name: string, rows: readonly FlopRow[], report: Whole): Group {
  const means = {
    ev_oop: meanOf(rows, (row) => row.ev_oop),
    ev_ip: meanOf(rows, (row) => row.ev_ip),
    equity_oop: meanOf(rows, (row) => row.equity_oop),
    equity_ip: meanOf(rows, (row) => row.equity_ip),
  };
  return {
    name,
    count: rows.length,
    weight: rows.reduce((sum, row) => sum + row.weight, 0),
    frequencies: report.actions.map((_, at) => meanOf(rows, (row) => row.frequencies[at])),
    ...means,
    eqr_oop: eqr(means, "oop", report.pot, report.paid),
    eqr_ip: eqr(means, "ip", report.pot, report.paid),
  };
}

// The filter of flops.

import type { FlopRow } from "./table";

export const KINDS = ["suits", "pairing", "connectedness", "high_card"] as const;
export type Kind = (typeof KINDS)[number];
export type Filter = Readonly<Record<Kind | "text", string>>; // "": any

export const ANY: Filter = { text: "", suits: "", pairing: "", connectedness: "", high_card: "" };

export function filtered(rows: readonly FlopRow[], filter: Filter): FlopRow[] {
  return rows.filter(
    (row) =>
      KINDS.every((kind) => filter[kind] === "" || row[kind] === filter[kind]) &&
      matches(row.flop, filter.text),
  );
}

/** Whether a flop is meant by "AsKh", "as 7d", or by ranks alone: "AK7". */
export function matches(flop: string, text: string): boolean {
  const wanted = text.replaceAll(/[\s,]/g, "").toLowerCase();
  const cards = flop.toLowerCase();
  if (/^([2-9tjqka][cdhs])+$/.test(wanted)) {
    return (wanted.match(/../g) ?? []).every((card) => cards.includes(card));
  }
  return cards.includes(wanted) || cards.replaceAll(/[cdhs]/g, "").includes(wanted);
}

/** The values of a kind, in the order of the flops. */
export function optionsOf(rows: readonly FlopRow[], kind: Kind): string[] {
  return [...new Set(rows.map((row) => row[kind]))];
}

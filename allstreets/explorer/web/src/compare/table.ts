// Two solutions side by side: the columns of the hands, and their order.

import type { Schemas } from "../api/client";
import type { Order } from "../report/table";

export type HandBeside = Schemas["HandBeside"];

export interface Column {
  key: string;
  label: string;
  title: string;
  value: (row: HandBeside) => number | string | null; // that it is sorted by
}

export function columnsOf(comparison: Pick<Schemas["Comparison"], "actions" | "unit">): Column[] {
  const more = "there → here; sorted by how much more it is here";
  return [
    { key: "name", label: "Hand", title: "Sort by name", value: (row) => row.name },
    {
      key: "share",
      label: "Of range",
      title: "Its share of the range that gets here, the mean of both solutions",
      value: (row) => row.share,
    },
    {
      key: "distance",
      label: "Differs",
      title: "How often it acts differently",
      value: (row) => row.distance,
    },
    {
      key: "weighted",
      label: "Adds",
      title: "How often it acts differently, times its share of the range: its part of the difference",
      value: (row) => row.weighted,
    },
    ...comparison.actions.map((action, at): Column => ({
      key: `action ${action.word}`,
      label: action.label,
      title: `How often: ${action.label}; ${more}`,
      value: (row) => difference(row.there[at], row.here[at]),
    })),
    {
      key: "ev",
      label: "EV",
      title: `EV in ${comparison.unit}; there → here, sorted by what it is here`,
      value: (row) => row.ev.here,
    },
    {
      key: "gain",
      label: "Gain",
      title: `How much larger its EV is here, in ${comparison.unit}`,
      value: (row) => row.ev.change,
    },
  ];
}

function difference(there: number | null | undefined, here: number | null | undefined): number | null {
  return there == null || here == null ? null : here - there;
}

/** Hands in an order; those without a value come last in either direction. */
export function inOrder(
  rows: readonly HandBeside[],
  columns: readonly Column[],
  order: Order,
): HandBeside[] {
  const value = columns.find((one) => one.key === order.key)?.value ?? ((row) => row.weighted);
  const sign = order.down ? -1 : 1;
  return rows
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null);
      return typeof a.value === "number" && typeof b.value === "number"
        ? sign * (a.value - b.value)
        : sign * String(a.value).localeCompare(String(b.value));
    })
    .map(({ row }) => row);
}

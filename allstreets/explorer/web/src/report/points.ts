// Points of a scatter plot, and where its axes are marked.

import type { Column, FlopRow } from "./table";

export interface Span {
  low: number;
  high: number;
}
export interface Points {
  x: Span;
  y: Span;
  all: { row: FlopRow; x: number; y: number }[];
}

/** The rows that have both figures. */
export function pointsOf(rows: readonly FlopRow[], x: Column, y: Column): Points {
  const all = rows.flatMap((row) => {
    const [across, up] = [x.value(row), y.value(row)];
    return typeof across === "number" && typeof up === "number" ? [{ row, x: across, y: up }] : [];
  });
  return { x: spanOf(all.map((one) => one.x)), y: spanOf(all.map((one) => one.y)), all };
}

/** From the smallest to the largest, with some room at both ends. */
export function spanOf(values: readonly number[]): Span {
  if (!values.length) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = high > low ? 0.05 * (high - low) : Math.abs(low) * 0.05 || 0.5;
  return { low: low - room, high: high + room };
}

/** Four to ten round numbers of a span. */
export function ticksOf({ low, high }: Span): number[] {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

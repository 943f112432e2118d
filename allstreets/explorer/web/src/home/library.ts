// Figures of ready-made games, short enough for a button.

import type { Schemas } from "../api/client";

const EXACT = 0.001; // mbb/hand: no more than this is lost

/** A number with its own decimals. */
export function decimals(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** The winnings of a perfect opponent in bb per 100 hands; "": negligible, or not known. */
export function perHundred(real: Schemas["RealQuality"] | null | undefined): string {
  if (!real || real.exploitability <= EXACT) return "";
  return `${Number((real.exploitability / 10).toPrecision(2))} bb/100`;
}

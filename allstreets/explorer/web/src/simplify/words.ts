// The rules of simplifying, and the rows of the price table.

import type { Schemas } from "../api/client";

export const GRIDS = [50, 25, 20, 10, 5] as const;
export const SIZES = [1, 2] as const;
export const DROPS = [2, 5, 10] as const;

export interface Row {
  what: string;
  exploitability: number;
  prices: number[];
  before: number; // mixed decisions
  after: number;
  all: boolean;
}

/** Each street alone, if there are several, and all of them. */
export function rows(price: Schemas["SimplePrice"]): Row[] {
  const streets = price.streets.map((each) => ({
    what: `${each.street} alone`,
    exploitability: each.exploitability,
    prices: each.prices,
    before: each.mixed_before,
    after: each.mixed_after,
    all: false,
  }));
  const one = price.streets.length === 1;
  const all = {
    what: one ? (price.streets[0]?.street ?? "") : "all streets",
    exploitability: price.after,
    prices: price.prices,
    before: price.mixed_before,
    after: price.mixed_after,
    all: true,
  };
  return one ? [all] : [...streets, all];
}

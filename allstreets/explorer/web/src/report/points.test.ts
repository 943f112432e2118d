import { describe, expect, it } from "vitest";
import { spanOf, ticksOf } from "./points";

describe("a scatter plot", () => {
  it("leaves room around its points", () => {
    expect(spanOf([1, 3])).toEqual({ low: 0.9, high: 3.1 });
    expect(spanOf([2])).toEqual({ low: 1.9, high: 2.1 });
    expect(spanOf([])).toEqual({ low: 0, high: 1 });
  });

  it("is marked at round numbers inside", () => {
    expect(ticksOf({ low: 0.9, high: 3.1 })).toEqual([1, 1.5, 2, 2.5, 3]);
    for (const span of [
      { low: 0.31, high: 0.47 },
      { low: -3, high: 120 },
    ]) {
      const ticks = ticksOf(span);
      expect(ticks.length).toBeGreaterThan(2);
      expect(ticks.length).toBeLessThan(11);
      expect(Math.min(...ticks)).toBeGreaterThanOrEqual(span.low);
      expect(Math.max(...ticks)).toBeLessThanOrEqual(span.high);
    }
  });
});

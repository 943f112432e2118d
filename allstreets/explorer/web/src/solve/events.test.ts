import { describe, expect, it } from "vitest";
import { goesOn, joined, retryDelay, type CurvePoint } from "./events";

function points(...iterations: number[]): CurvePoint[] {
  return iterations.map((iteration) => ({
    iteration,
    seconds: iteration / 10,
    exploitability: 100 / iteration,
    regret: null,
  }));
}

describe("the curve of a solve", () => {
  it("grows by what is new", () => {
    expect(joined(points(10, 20), points(30))).toEqual(points(10, 20, 30));
    expect(joined([], points(10))).toEqual(points(10));
    expect(joined(points(10), [])).toEqual(points(10));
  });

  it("holds no point twice when a stream begins anew", () => {
    expect(joined(points(10, 20), points(10, 20, 30))).toEqual(points(10, 20, 30));
  });

  it("forgets what a solve that went on from its last save does again", () => {
    expect(joined(points(10, 20, 30), points(25))).toEqual(points(10, 20, 25));
  });
});

describe("a solve", () => {
  it("goes on while it may change by itself", () => {
    expect(goesOn("paused")).toBe(true);
    expect(goesOn("stopping")).toBe(true);
    expect(goesOn("done")).toBe(false);
    expect(goesOn("interrupted")).toBe(false);
  });

  it("is asked for again soon at first, then every ten seconds", () => {
    expect([0, 1, 2, 9].map(retryDelay)).toEqual([500, 1000, 2000, 10_000]);
  });
});

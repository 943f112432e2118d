import { describe, expect, it } from "vitest";
import { averages, costOf, dealOf, draftOf, namesFlop, wayOf } from "./words";

describe("namesFlop", () => {
  it("finds a flop between bars, and nothing else", () => {
    for (const line of ["c x | Qs7h4d", "r2.5 c | qs 7h 4d | x b50%", " | Qs7h4d"])
      expect(namesFlop(line)).toBe(true);
    for (const line of ["", "c x", "r2.5 c |", "c x | Qs7h", "x b50 c | 7h | x"])
      expect(namesFlop(line)).toBe(false);
    expect([dealOf("r2.5 c | qs 7h 4d | x"), dealOf("c x")]).toEqual(["r2.5 c", null]);
  });
});

describe("averages", () => {
  it("finds turns and rivers without a card", () => {
    const step = { kind: "cards" as const, line: "", label: "", same_as: [] };
    const flop = { ...step, street: "flop" as const, cards: ["As", "Kh", "7d"] };
    const any = { ...step, street: "turn" as const, cards: [] };
    expect(averages(null)).toBe(false);
    expect(averages({ steps: [flop] })).toBe(false);
    expect(averages({ steps: [flop, { ...any, cards: ["2c"] }] })).toBe(false);
    expect(averages({ steps: [flop, any] })).toBe(true);
  });
});

describe("costOf", () => {
  it("says what is known", () => {
    const plain = { memory_bytes: 3_600_000_000, seconds: 85, sparing: "" };
    expect(costOf(plain)).toContain(": about 3.6 GB; about 1 min 25 s in all, a draft in seconds.");
    expect(costOf({ ...plain, sparing: "stored in 16 bits" })).toContain("stored in 16 bits.");
    const none = { memory_bytes: null, seconds: null, sparing: "" };
    expect(costOf(none)).toBe("Real combos, every turn and river, for the ranges that get here.");
  });
});

describe("draftOf", () => {
  it("says how near it is", () => {
    expect(draftOf(1.052)).toBe("Draft, within 1.1 % of pot.");
  });
});

describe("wayOf", () => {
  it("waits for a figure", () => {
    expect(wayOf(null)).toBe("getting ready");
    const progress = { exploitability: 2.13, iteration: 40, eta_seconds: null };
    expect(wayOf(progress)).toBe("2.1 % of pot after 40 iterations");
    expect(wayOf({ ...progress, eta_seconds: 60 })).toContain(" left");
  });
});

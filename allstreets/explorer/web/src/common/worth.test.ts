import { expect, test } from "vitest";
import { verdict, worth, worthTitle } from "./worth";

const game = { kind: "unified", exploitability: 0.21, unit: "mbb/hand", real: null, simple: null } as const;
const real = { exploitability: 216, low: 201, high: 230, outdated: false };
const spot = { kind: "spot", exploitability: 0.23, unit: "% of pot", real: null, simple: null } as const;

test("a figure says in which game it was found", () => {
  expect(worth(game)).toBe("0.21 mbb/hand in its own game");
  expect(worthTitle(game)).toContain("allstreets certify");
  const simple = { text: "SB simple: 1 size", judged: "with real cards, on its own flops" };
  expect(worth({ ...game, simple })).toBe("0.21 mbb/hand with real cards, on its own flops");
  expect(worth({ ...game, real })).toBe("216 mbb/hand with real cards");
  expect(worthTitle({ ...game, real })).toBe(
    "With real cards: certified, a perfect opponent wins 21.6 bb/100; 95 % between 201 and 230; " +
      "0.21 mbb/hand in its own game",
  );
  expect(worthTitle({ ...game, real: { ...real, low: 216, high: 216 } })).not.toContain("95 %");
  expect(worth({ ...game, real: { ...real, outdated: true } })).toContain("before it changed");
});

test("a figure says what it means", () => {
  const at = (exploitability: number) =>
    verdict({ ...game, real: { ...real, exploitability } }).trust;
  expect([0.2, 10, 11, 50, 166].map(at)).toEqual(["good", "good", "fair", "fair", "poor"]);
  expect(verdict({ ...game, real: { ...real, exploitability: 166 } })).toEqual({
    trust: "poor",
    word: "far from equilibrium",
    meaning: "certified, a perfect opponent wins 16.6 bb/100",
  });
  expect(verdict(spot)).toEqual({
    trust: "good",
    word: "close to equilibrium",
    meaning: "a perfect opponent gains 0.23 % of the pot",
  });
});

test("what a perfect opponent wins nothing from is exact", () => {
  const solved = { exploitability: 9e-5, low: 9e-5, high: 9e-5, outdated: false };
  expect(verdict({ ...game, real: solved })).toMatchObject({ trust: "good", word: "exact" });
  expect(verdict({ ...game, real: { ...solved, high: 0.2 } }).word).toBe("close to equilibrium");
});

test("what has no certificate is not trusted, however small its figure", () => {
  expect(verdict(game)).toMatchObject({ trust: "unknown", word: "not certified" });
  expect(verdict({ ...game, exploitability: 166 })).toMatchObject({ trust: "poor" });
  expect(verdict({ ...game, real: { ...real, exploitability: 1, outdated: true } })).toMatchObject({
    trust: "unknown",
    word: "certificate outdated",
  });
});

test("flops one by one, and what is built on them, are models", () => {
  for (const [kind, unit] of [
    ["postflop", "% of pot"],
    ["preflop", "mbb/hand"],
  ] as const) {
    const model = { kind, unit, exploitability: 0.1, real: null, simple: null };
    expect(verdict(model)).toMatchObject({ trust: "unknown", word: "a model" });
    expect(worth(model)).toBe(`0.1 ${unit} within its model`);
    expect(verdict({ ...model, exploitability: 90 }).trust).toBe("poor");
  }
});

test("a set is as good as its worst board", () => {
  const set = { ...spot, kind: "spots", exploitability: 0.7 } as const;
  expect(worth(set)).toBe("0.7 % of pot on the worst board");
  expect(verdict(set)).toEqual({
    trust: "fair",
    word: "a rough equilibrium",
    meaning: "a perfect opponent gains 0.7 % of the pot on the worst board",
  });
});

test("a spot has real cards anyway", () => {
  expect(worth(spot)).toBe("0.23 % of pot");
  expect(worthTitle(spot)).toBe("A perfect opponent gains 0.23 % of the pot");
  expect(worth({ ...spot, exploitability: null })).toBe("–");
  expect(worthTitle({ ...spot, exploitability: null })).toBe("Exploitability was not measured");
  expect(verdict({ ...spot, exploitability: null }).word).toBe("not measured");
});

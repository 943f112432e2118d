import { expect, test } from "vitest";
import { worth, worthTitle } from "./worth";

const game = { kind: "unified", exploitability: 0.21, unit: "mbb/hand", real: null } as const;
const real = { exploitability: 216, low: 201, high: 230, outdated: false };

test("a figure says in which game it was found", () => {
  expect(worth(game)).toBe("0.21 mbb/hand in its own game");
  expect(worthTitle(game)).toContain("allstreets certify");
  expect(worth({ ...game, real })).toBe("216 mbb/hand with real cards");
  expect(worthTitle({ ...game, real })).toBe(
    "95 % between 201 and 230; 0.21 mbb/hand in its own game",
  );
  expect(worthTitle({ ...game, real: { ...real, low: 216, high: 216 } })).toBe(
    "0.21 mbb/hand in its own game",
  );
  expect(worth({ ...game, real: { ...real, outdated: true } })).toContain("before it changed");
});

test("a spot has real cards anyway", () => {
  const spot = { kind: "spot", exploitability: 0.23, unit: "% of pot", real: null } as const;
  expect(worth(spot)).toBe("0.23 % of pot");
  expect(worthTitle(spot)).toBe("Exploitability");
  expect(worth({ ...spot, exploitability: null })).toBe("–");
  expect(worthTitle({ ...spot, exploitability: null })).toBe("not measured");
});

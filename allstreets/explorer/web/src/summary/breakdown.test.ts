import { describe, expect, it } from "vitest";
import { breakdown } from "./breakdown";

const HANDS = ["AA", "AKs", "AKo", "72o"];
const GRID = { combos: [6, 4, 12, 12], reach: [1, 0.5, 0.25, 0] };
const BET = { chances: [1, 0.5, null, null] };
const CHECK = { chances: [0, 0.5, null, null] };

describe("a range by kinds of hands", () => {
  it("says how much each kind is, and what it does", () => {
    expect(breakdown(HANDS, GRID, [CHECK, BET])).toEqual([
      { name: "Pairs", combos: 6, share: 6 / 11, chances: [0, 1] },
      { name: "Suited", combos: 2, share: 2 / 11, chances: [0.5, 0.5] },
      { name: "Offsuit", combos: 3, share: 3 / 11, chances: [null, null] },
    ]);
  });

  it("leaves out what nobody holds, and takes other kinds", () => {
    const half = { name: "half of the aces", holds: (hand: string) => (hand === "AA" ? 0.5 : 0) };
    const none = { name: "none", holds: () => 0 };
    const found = breakdown(HANDS, GRID, [], [half, none]);
    expect(found).toEqual([{ name: half.name, combos: 3, share: 3 / 11, chances: [] }]);
    expect(breakdown(HANDS, { ...GRID, reach: [0, 0, 0, 0] }, [BET])).toEqual([]);
  });
});

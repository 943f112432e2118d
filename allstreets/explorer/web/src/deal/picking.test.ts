import { describe, expect, it } from "vitest";
import { DECK } from "../common/cards";
import { flopCards, lineOf, pickable, picked, spelled } from "./picking";

describe("picking cards", () => {
  it("tells which can be had, and which stand for others", () => {
    const shown = pickable([
      { card: "7h", line: "x x | 7h", same_as: null },
      { card: "7d", line: "x x | 7d", same_as: "7h" },
      { card: "As", line: null, same_as: null },
    ]);
    expect(shown.disabled).toEqual(["As"]);
    expect(shown.dimmed).toEqual(["7d"]);
    expect(shown.hints).toEqual({ "7d": "7d: played as 7h with suits renamed" });
  });

  it("offers the flops that there are, in any suits", () => {
    const flops = spelled(["AsKh7d", "7s7h2s"]);
    const open = (chosen: string[]) => {
      const shown = flopCards(flops, chosen, false);
      return DECK.filter((card) => !shown.disabled.includes(card) && !chosen.includes(card));
    };
    expect(new Set(open([]).map((card) => card.charAt(0)))).toEqual(new Set("AK72"));
    expect(open(["Ac", "Kd"])).toEqual(["7s", "7h"]); // a rainbow, whichever suits
    expect(open(["2c"])).toEqual(["7s", "7h", "7d", "7c"]);
    expect(open(["2c", "7s"])).toEqual(["7c"]); // one of the sevens has the suit of the deuce
    expect(flopCards(flops, ["Ac", "Kc"], false).disabled).toHaveLength(50);
  });

  it("offers others where they can be solved, and all where all are there", () => {
    const shown = flopCards(spelled(["AsKh7d"]), ["As"], true);
    expect(shown.disabled).toEqual([]);
    expect(shown.dimmed).toContain("Ks");
    expect(shown.dimmed).not.toContain("Kh");
    expect(shown.hints["Ks"]).toContain("can be solved exactly");
    expect(flopCards([], ["As"], false)).toEqual({ disabled: [], dimmed: [], hints: {} });
  });

  it("takes cards back and begins anew", () => {
    expect(picked([], "As", 3)).toEqual(["As"]);
    expect(picked(["As", "Kh"], "As", 3)).toEqual(["Kh"]);
    expect(picked(["As", "Kh", "7d"], "2c", 3)).toEqual(["2c"]);
  });

  it("fills the pattern of a flop", () => {
    expect(lineOf("r2.5 c | {cards}", ["As", "Kh", "7d"])).toBe("r2.5 c | AsKh7d");
  });
});

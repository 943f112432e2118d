import { describe, expect, it } from "vitest";
import { lineOf, pickable, picked } from "./picking";

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

  it("takes cards back and begins anew", () => {
    expect(picked([], "As", 3)).toEqual(["As"]);
    expect(picked(["As", "Kh"], "As", 3)).toEqual(["Kh"]);
    expect(picked(["As", "Kh", "7d"], "2c", 3)).toEqual(["2c"]);
  });

  it("fills the pattern of a flop", () => {
    expect(lineOf("r2.5 c | {cards}", ["As", "Kh", "7d"])).toBe("r2.5 c | AsKh7d");
  });
});

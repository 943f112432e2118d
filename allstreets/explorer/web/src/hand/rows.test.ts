import { describe, expect, it } from "vitest";
import { best, combosText, comboCards } from "./rows";

describe("the best action", () => {
  it("is worth most", () => {
    expect(best([-1, 2, 1.5])).toBe(1);
    expect(best([-3, -2])).toBe(1);
  });

  it("is the first of equals, and none where nothing is known", () => {
    expect(best([1, 1])).toBe(0);
    expect(best([null, -4, null])).toBe(1);
    expect(best([null, null])).toBeNull();
    expect(best([])).toBeNull();
  });
});

describe("a combo", () => {
  it("has two cards, a hand has none", () => {
    expect(comboCards("AhKd")).toEqual(["Ah", "Kd"]);
    // Its last two letters look like a jack of spades.
    expect(comboCards("QJs")).toEqual([]);
    expect(comboCards("77")).toEqual([]);
  });

  it("is never nothing when there is some of it", () => {
    expect(combosText(0)).toBe("0.0");
    expect(combosText(0.0123)).toBe("0.012");
    expect(combosText(0.00000234)).toBe("<0.001");
    expect(combosText(1326)).toBe("1326.0");
  });
});

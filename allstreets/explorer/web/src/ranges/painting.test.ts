import { describe, expect, it } from "vitest";
import { handAfterKey, handsBetween, strokeWeight } from "./painting";

describe("a stroke", () => {
  it("paints empty cells and those of another weight", () => {
    expect(strokeWeight(0, 1)).toBe(1);
    expect(strokeWeight(1, 0.5)).toBe(0.5);
  });

  it("clears when it begins on a cell of the same weight", () => {
    expect(strokeWeight(1, 1)).toBe(0);
    expect(strokeWeight(0.3, 0.1 + 0.2)).toBe(0);
  });

  it("clears with an empty brush", () => {
    expect(strokeWeight(0.7, 0)).toBe(0);
  });

  it("covers every cell on its way", () => {
    expect(handsBetween("AA", "ATs")).toEqual(["AA", "AKs", "AQs", "AJs", "ATs"]);
    expect(handsBetween("AA", "JJ")).toEqual(["AA", "KK", "QQ", "JJ"]);
    expect(handsBetween("JJ", "AA")).toEqual(["JJ", "QQ", "KK", "AA"]);
    expect(handsBetween("72o", "72o")).toEqual(["72o"]);
    expect(handsBetween("AKo", "AQs")).toHaveLength(3);
  });
});

describe("keys", () => {
  it("move through the grid and stop at its edge", () => {
    expect(handAfterKey("AA", "ArrowRight")).toBe("AKs");
    expect(handAfterKey("AA", "ArrowDown")).toBe("AKo");
    expect(handAfterKey("AA", "ArrowUp")).toBe("AA");
    expect(handAfterKey("22", "ArrowLeft")).toBe("32o");
    expect(handAfterKey("K2s", "Home")).toBe("AKo");
    expect(handAfterKey("AKo", "End")).toBe("K2s");
    expect(handAfterKey("AA", "x")).toBeNull();
  });
});

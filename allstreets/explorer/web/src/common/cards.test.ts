import { describe, expect, it } from "vitest";
import { DECK, GRID_HANDS, handAt, splitCards } from "./cards";

describe("cards", () => {
  it("are 52, and hands 169", () => {
    expect(new Set(DECK).size).toBe(52);
    expect(new Set(GRID_HANDS).size).toBe(169);
  });

  it("lie in the grid as players know it", () => {
    expect(handAt(0, 0)).toBe("AA");
    expect(handAt(0, 1)).toBe("AKs");
    expect(handAt(1, 0)).toBe("AKo");
    expect(handAt(12, 5)).toBe("92o");
  });

  it("are taken apart", () => {
    expect(splitCards("AhKd7s")).toEqual(["Ah", "Kd", "7s"]);
    expect(splitCards("")).toEqual([]);
  });
});

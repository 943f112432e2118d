import { describe, expect, it } from "vitest";
import { boardCards, boardWord, tidied, toggled } from "./board";

describe("a board", () => {
  it("is read as people write it", () => {
    expect(boardCards("ah kd,7S")).toEqual(["Ah", "Kd", "7s"]);
    expect(boardCards("AhAh")).toEqual(["Ah"]);
    expect(boardCards("2c3c4c5c6c7c")).toHaveLength(5);
    expect(boardCards("")).toEqual([]);
  });

  it("is tidied where nothing is lost", () => {
    expect(tidied("ah kd, 7S")).toBe("AhKd7s");
    for (const text of ["AhAh", "Ah K", "2c3c4c5c6c7c", "Ah or Kd"]) {
      expect(tidied(text)).toBe(text);
    }
  });

  it("takes and gives back cards", () => {
    expect(toggled("AhKd", "7s")).toBe("AhKd7s");
    expect(toggled("ah kd 7s", "Kd")).toBe("Ah7s");
    expect(toggled("2c3c4c5c6c", "7c")).toBe("2c3c4c5c6c");
  });

  it("says which street it is", () => {
    expect([0, 2, 3, 4, 5].map(boardWord)).toEqual([
      "pick three to five cards",
      "1 more for a flop",
      "flop",
      "turn",
      "river",
    ]);
  });
});

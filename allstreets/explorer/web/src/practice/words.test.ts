import { describe, expect, it } from "vitest";
import { classOf, drawText, lostText } from "./words";

describe("words of practice", () => {
  it("name the cell of two cards", () => {
    expect(classOf(["Ah", "Kh"])).toBe("AKs");
    expect(classOf(["9c", "Td"])).toBe("T9o");
    expect(classOf(["7c", "7d"])).toBe("77");
  });
  it("say what is lost", () => {
    const one = { id: "1", name: "hu20", folder: "/hu20", hands: 1, waiting: 0 };
    expect(lostText([one])).toBe("Delete all results: 1 hand on hu20? They cannot be restored.");
    expect(lostText([one, { ...one, id: "2", hands: 11, waiting: 3 }])).toBe(
      "Delete all results: 12 hands on 2 solutions, with 3 decisions to come back? " +
        "They cannot be restored.",
    );
  });
  it("say which number made which choice", () => {
    const mix: [string, number][] = [["f", 0.25], ["c", 0], ["a", 0.75]];
    const draw = { seat: "BB", street: "flop", action: "a", number: 0.5, mix };
    expect(drawText(draw)).toBe("flop: BB a, drew 0.500 (f to 0.25, a to 1.00)");
  });
});

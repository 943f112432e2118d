import { describe, expect, it } from "vitest";
import { classOf, drawText } from "./words";

describe("words of practice", () => {
  it("name the cell of two cards", () => {
    expect(classOf(["Ah", "Kh"])).toBe("AKs");
    expect(classOf(["9c", "Td"])).toBe("T9o");
    expect(classOf(["7c", "7d"])).toBe("77");
  });
  it("say which number made which choice", () => {
    const mix: [string, number][] = [["f", 0.25], ["c", 0], ["a", 0.75]];
    const draw = { seat: "BB", street: "flop", action: "a", number: 0.5, mix };
    expect(drawText(draw)).toBe("flop: BB a, drew 0.500 (f to 0.25, a to 1.00)");
  });
});

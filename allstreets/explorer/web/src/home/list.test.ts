import { describe, expect, it } from "vitest";
import { age, found } from "./list";

function card(name: string, title: string, kind: "spot" | "unified" | null) {
  return {
    id: name,
    kind,
    name,
    note: name === "turn" ? "for the final table" : "",
    title,
    folder: `/solved/${name}`,
    iterations: null,
    exploitability: null,
    unit: "",
    bytes: 0,
    modified: 0,
    written: "",
    problem: null,
    locks: 0,
    real: null,
    simple: null,
  };
}
const CARDS = [card("turn", "AhTd6s3c, pot 100", "spot"), card("hu20", "20 bb, all flops", "unified")];

describe("the list of solutions", () => {
  it("is filtered by all words, anywhere", () => {
    const names = (text: string) => found(CARDS, text).map((one) => one.name);
    expect(names("")).toEqual(["turn", "hu20"]);
    expect(names("SPOT ahtd")).toEqual(["turn"]);
    expect(names("final")).toEqual(["turn"]);
    expect(names("bb unified ")).toEqual(["hu20"]);
    expect(names("spot 20")).toEqual([]);
    expect(found([card("broken", "", null)], "broken")).toHaveLength(1);
  });

  it("tells ages in words", () => {
    expect(age(1000, 1030)).toBe("just now");
    expect(age(1000, 1060)).toBe("1 minute ago");
    expect(age(0, 7300)).toBe("2 hours ago");
    expect(age(0, 86_400 * 3 + 5)).toBe("3 days ago");
    expect(age(2000, 1000)).toBe("just now");
  });
});

import { describe, expect, it } from "vitest";
import { lineBack, lineForward, linesTo, trailAfter, type Way } from "./trail";

function way(...lines: string[]): Way {
  return { line: lines.at(-1) ?? "", steps: lines.slice(0, -1).map((line) => ({ line })) };
}
const ROOT = way("");
const CHECK = way("", "x");
const BET = way("", "x", "x b33");

describe("the trail", () => {
  it("leads forward again after going back", () => {
    let trail = trailAfter([], ROOT);
    for (const place of [CHECK, BET, CHECK, ROOT]) trail = trailAfter(trail, place);
    expect(lineForward(trail, ROOT, [{ line: "f" }])).toBe("x");
    expect(lineForward(trail, CHECK, [{ line: "x x" }])).toBe("x b33");
  });

  it("is left where another way is taken", () => {
    const trail = trailAfter(trailAfter([], BET), way("", "b75"));
    expect(trail).toEqual(["", "b75"]);
    expect(lineForward(trail, ROOT, [])).toBe("b75");
  });

  it("is left where a way only ends alike", () => {
    const trail = trailAfter(["spr1", "spr1 | a"], way("spr2", "spr1 | a"));
    expect(trail).toEqual(["spr2", "spr1 | a"]);
  });

  it("goes on with what is offered first at its end", () => {
    expect(lineForward(trailAfter([], BET), BET, [{ line: "x b33 f" }])).toBe("x b33 f");
    expect(lineForward(trailAfter([], BET), BET, [])).toBeNull();
  });

  it("goes back one step, and not past the beginning", () => {
    expect(lineBack(BET, "x b33", false)).toBe("x");
    expect(lineBack(BET, "x  b33%", false)).toBe("x"); // another spelling of the same
    expect(lineBack(ROOT, "", false)).toBeNull();
  });

  it("goes back from what is asked for while the answer is under way", () => {
    expect(lineBack(CHECK, "x b33", true)).toBe("x"); // on the way ahead
    expect(lineBack(BET, "x", true)).toBe(""); // on the way back already
    expect(lineBack(BET, "", true)).toBeNull();
    expect(lineBack(BET, "nonsense", true)).toBe("x b33"); // which leads nowhere
  });

  it("counts steps at one line as one", () => {
    const averaged = way("x", "x c", "x c", "x c |");
    expect(linesTo(averaged)).toEqual(["x", "x c", "x c |"]);
    expect(lineBack(averaged, "x c |", false)).toBe("x c");
  });
});

import { describe, expect, it } from "vitest";
import type { Solve, SolveState } from "./events";
import { advance, age, figureOf, offers, placeWord, reachedText, stateWord } from "./words";

const PROGRESS = {
  iteration: 10,
  seconds: 1,
  iterations_per_second: null,
  eta_seconds: null,
  memory_bytes: null,
  total: null,
};

describe("words for solves", () => {
  it("tell ages", () => {
    const passed = [5, 60, 3599, 3600, 86_399, 86_400, 250_000];
    expect(passed.map((seconds) => age(1000, 1000 + seconds))).toEqual([
      "just now",
      "1 min ago",
      "59 min ago",
      "1 h ago",
      "23 h ago",
      "1 day ago",
      "2 days ago",
    ]);
  });

  it("offer what can be done", () => {
    const at = (state: SolveState, exploitability: number | null = null) =>
      offers({ state, target: 0.3, progress: { ...PROGRESS, exploitability } });
    expect(at("waiting")).toEqual({ pause: false, stop: "Cancel", resume: null });
    expect(at("starting")).toEqual({ pause: false, stop: "Stop", resume: null });
    expect(at("running")).toEqual({ pause: true, stop: "Stop", resume: null });
    expect(at("paused")).toEqual({ pause: false, stop: "Stop", resume: "Resume" });
    expect(at("stopping")).toEqual({ pause: false, stop: null, resume: null });
    expect(at("interrupted")).toEqual({ pause: false, stop: null, resume: "Continue" });
    expect(at("done", 0.29).resume).toBeNull();
    expect(at("done", 0.31).resume).toBe("Continue"); // the time was up
    const trained = offers({ state: "done", target: null, progress: null });
    expect(trained.resume).toBeNull(); // a game without a target ends when its file says so
  });

  it("speak of hands where they are reviewed", () => {
    const progress = { ...PROGRESS, exploitability: 0.5, iteration: 1200, total: 3000 };
    const solve = { review: "1f", unit: "hands", progress } as Solve;
    expect(reachedText(solve)).toBe("1,200 of 3,000 hands");
    expect(reachedText({ ...solve, review: null, unit: "% of pot" })).toBe("0.5 % of pot");
    expect([stateWord("running"), stateWord("running", "1f")]).toEqual(["solving", "reviewing"]);
    expect(stateWord("failed", "1f")).toBe("failed");
  });

  it("measure the way to the target by factors", () => {
    expect(advance(100, 100, 1)).toBe(0);
    expect(advance(100, 10, 1)).toBeCloseTo(0.5);
    expect(advance(100, 0.5, 1)).toBe(1);
    expect(advance(null, null, 1)).toBe(0);
    expect(advance(10, 20, 1)).toBe(0);
    expect(advance(100, 10, null)).toBe(0);
  });

  it("tell figures with their unit, and places in the line", () => {
    expect(figureOf(0.12345, "% of pot")).toEqual(["0.12 %", "of pot"]);
    expect(figureOf(12.345, "mbb/hand")).toEqual(["12", "mbb/hand"]);
    expect(figureOf(null, "% of pot")).toEqual(["–", "of pot"]);
    expect(placeWord(null)).toBe("");
    expect(placeWord(1)).toContain("Next: it starts");
    expect(placeWord(3)).toContain("and 2 more");
  });
});

import { describe, expect, it } from "vitest";
import { actionColour, actionParts, barBackground, heatColour } from "./colours";

const FOLD = { tone: "fold", shade: 0 } as const;
const CALL = { tone: "call", shade: 0 } as const;
const RAISE = { tone: "aggressive", shade: 0.5 } as const;
const ALL_IN = { tone: "aggressive", shade: 1 } as const;

describe("colours", () => {
  it("grade bets and raises by their size", () => {
    expect(actionColour(FOLD)).toBe("var(--fold)");
    expect(actionColour(RAISE)).toContain("50%");
    expect(actionColour(ALL_IN)).toBe("var(--raise-high)");
  });

  it("run from bad through the middle to good, and no further", () => {
    expect(heatColour(0)).toBe("var(--value-low)");
    expect(heatColour(0.5)).toBe("var(--value-mid)");
    expect(heatColour(1)).toBe("var(--value-high)");
    expect(heatColour(-3)).toBe(heatColour(0));
    expect(heatColour(7)).toBe(heatColour(1));
  });
});

describe("bars", () => {
  it("begin with the biggest raise and end with the fold", () => {
    const parts = actionParts([FOLD, CALL, RAISE, ALL_IN], [0.25, 0.5, 0, 0.25]);
    expect(parts.map((part) => part.colour)).toEqual([
      "var(--raise-high)",
      "var(--call)",
      "var(--fold)",
    ]);
    expect(barBackground(parts)).toBe(
      "linear-gradient(90deg, var(--raise-high) 0% 25%, var(--call) 25% 75%, var(--fold) 75% 100%)",
    );
  });

  it("are full even if shares are rounded, and empty where nothing is known", () => {
    expect(barBackground(actionParts([FOLD, CALL], [0.333, 0.333]))).toContain("50% 100%");
    expect(barBackground(actionParts([FOLD, CALL], [null, null]))).toBe("none");
    expect(barBackground([])).toBe("none");
  });
});

import { describe, expect, it } from "vitest";
import { GRID_HANDS } from "../common/cards";
import table from "./range-texts.json";
import { painted, readRange } from "./reading";

interface Row {
  text: string;
  kind: string; // page: the page reads it; server: the server alone; both: perhaps the page; wrong: nobody
  weights: Record<string, number>; // of the hands that have any
  mixed: string[];
}
const ROWS = table as unknown as Row[];

function rows(kind: string): Row[] {
  return ROWS.filter((row) => row.kind === kind);
}

describe("a range text", () => {
  it("is read as the server reads it", () => {
    expect(rows("page").length).toBeGreaterThan(150);
    for (const { text, weights, mixed } of [...rows("page"), ...rows("both")]) {
      const grid = readRange(text);
      if (!grid && rows("both").some((row) => row.text === text)) continue;
      for (const hand of GRID_HANDS) {
        expect(grid?.weights[hand], `${hand} of ${text}`).toBeCloseTo(weights[hand] ?? 0, 11);
      }
      expect(new Set(grid?.mixed), text).toEqual(new Set(mixed));
    }
  });

  it("is left to the server where it is of another kind, or wrong", () => {
    expect(Math.min(rows("server").length, rows("wrong").length)).toBeGreaterThan(5);
    for (const { text } of [...rows("server"), ...rows("wrong")]) {
      expect(readRange(text), text).toBeNull();
    }
  });

  it("counts its combos", () => {
    expect(readRange("AA,AKs:0.5,AhKd")).toMatchObject({ combos: 9, percent: 900 / 1326 });
    expect(readRange("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32")).toMatchObject({ combos: 1326 });
  });

  it("is painted by naming hands again", () => {
    expect(painted("QQ+,", { AA: 0, KK: 0.25, "72o": 1 })).toBe("QQ+,AA:0,KK:0.25,72o");
    expect(painted("", { AA: 1 })).toBe("AA");
    expect(painted("AA", {})).toBe("AA");
  });
});

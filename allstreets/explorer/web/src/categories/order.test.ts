import { describe, expect, it } from "vitest";
import { kindsOf, type Group } from "./order";

function group(kind: Group["kind"], name: string, combos: number, ev: number | null, bet: number): Group {
  const both = <T>(oop: T, ip: T): { oop: T; ip: T } => ({ oop, ip });
  return {
    kind,
    name,
    cells: [],
    combos: both(combos, 1),
    shares: both(combos / 100, 0.01),
    frequencies: [1 - bet, bet],
    evs: both(ev, 7),
    equities: both(0.5, 0.5),
  };
}
const GROUPS = [
  group("made", "set", 3, 90, 0.9),
  group("made", "top pair", 40, 60, 0.4),
  group("made", "low pair", 20, null, 0.5),
  group("made", "trips", 0, null, 0),
  group("draw", "gutshot", 12, 30, 0.7),
];
const names = (key: string, down: boolean): string[][] =>
  kindsOf(GROUPS, "oop", { key, down }).map((kind) => kind.groups.map((one) => one.name));

describe("categories of hands", () => {
  it("stand kind by kind, the strongest first, without those that a player does not hold", () => {
    expect(kindsOf(GROUPS, "oop").map((kind) => kind.title)).toEqual(["Made hands", "Draws"]);
    expect(names("name", false)).toEqual([["set", "top pair", "low pair"], ["gutshot"]]);
    expect(kindsOf(GROUPS, "ip")[0]?.groups.map((one) => one.name)).toContain("trips");
  });

  it("are sorted by any column, what is not known last", () => {
    expect(names("combos", true)[0]).toEqual(["top pair", "low pair", "set"]);
    expect(names("ev", false)[0]).toEqual(["top pair", "set", "low pair"]);
    expect(names("ev", true)[0]).toEqual(["set", "top pair", "low pair"]);
    expect(names("action 1", false)[0]).toEqual(["top pair", "low pair", "set"]);
    expect(names("name", true)[0]).toEqual(["low pair", "top pair", "set"]);
  });
});

import { describe, expect, it } from "vitest";
import { columnsOf, inOrder, type HandBeside } from "./table";

function hand(name: string, there: number | null, here: number, gain: number | null): HandBeside {
  return {
    name,
    hand: "AKs",
    share: 0.5,
    there: [there, there === null ? null : 1 - there],
    here: [here, 1 - here],
    ev: { there: gain === null ? null : 1, here: 1 + (gain ?? 0), change: gain },
    distance: there === null ? null : Math.abs(here - there),
    weighted: there === null ? 0 : 0.5 * Math.abs(here - there),
  };
}

const figure = { there: 0, here: 0, change: 0 };
const columns = columnsOf({
  unit: "chips",
  actions: [
    { word: "x", label: "check", frequency: figure, chances: [] },
    { word: "b50", label: "bet 50", frequency: figure, chances: [] },
  ],
});
const ROWS = [hand("AhKh", 0.2, 0.9, -0.1), hand("AsKs", null, 1, null), hand("AdKd", 0.5, 0.4, 0.3)];

function names(key: string, down: boolean): string[] {
  return inOrder(ROWS, columns, { key, down }).map((row) => row.name);
}

describe("hands of two solutions", () => {
  it("have a column for each action", () => {
    expect(columns.map((one) => one.key)).toEqual([
      "name", "share", "distance", "weighted", "action x", "action b50", "ev", "gain",
    ]);
  });

  it("are sorted by how much more they do it here, what is not in both last", () => {
    expect(names("action x", true)).toEqual(["AhKh", "AdKd", "AsKs"]);
    expect(names("action x", false)).toEqual(["AdKd", "AhKh", "AsKs"]);
    expect(names("gain", true)).toEqual(["AdKd", "AhKh", "AsKs"]);
    expect(names("distance", false)).toEqual(["AdKd", "AhKh", "AsKs"]);
    expect(names("name", false)).toEqual(["AdKd", "AhKh", "AsKs"]);
  });
});

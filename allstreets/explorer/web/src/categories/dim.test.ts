import { describe, expect, it } from "vitest";
import { GRID_HANDS } from "../common/cards";
import type { Cell } from "../grid/cells";
import { dimmed } from "./dim";

const HANDS = [...GRID_HANDS].reverse(); // the order of the server is another one
const CELLS: Cell[] = GRID_HANDS.map((hand) => ({
  hand,
  reached: true,
  locked: false,
  background: "red",
  height: 0.5,
  ink: "look",
  code: "",
  text: "100",
  label: hand,
}));

describe("a category in the grid", () => {
  it("leaves its own hands, as full as they are of it", () => {
    const shares = HANDS.map((hand) => (hand === "AA" ? 1 : hand === "AKs" ? 0.25 : 0));
    const cells = dimmed(CELLS, HANDS, shares, "overpair");
    const of = (hand: string): Cell | undefined => cells.find((cell) => cell.hand === hand);
    expect(of("AA")).toEqual(CELLS[0]);
    expect(of("AKs")?.height).toBeCloseTo(0.125);
    expect(of("KK")).toMatchObject({ reached: false, text: "", label: "KK: not overpair" });
  });

  it("changes nothing where none is chosen", () => {
    expect(dimmed(CELLS, HANDS, null, "")).toEqual(CELLS);
  });
});

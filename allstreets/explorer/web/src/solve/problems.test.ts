import { describe, expect, it } from "vitest";
import { problemAt, problemAtSize, reasonNot, withoutRepeats } from "./problems";
import { sizeRows } from "./sizes";

const PROBLEMS = [
  { field: "pot", message: "pot: Input should be greater than or equal to 1", hints: [] },
  { field: "sizes.river.ip.raise", message: "'33' is no size", hints: [] },
  { field: "sizes.turn.ip.raise", message: "'33' is no size", hints: [] },
  { field: null, message: "this spot needs 20 GB\nand 8 GB are free", hints: [] },
];

describe("problems", () => {
  it("stand beside the field that they name, without its path", () => {
    expect(problemAt(PROBLEMS, "pot")).toBe("Input should be greater than or equal to 1");
    expect(problemAt(PROBLEMS, "stack")).toBeNull();
  });

  it("stand once beside a field that many share", () => {
    const raise = sizeRows(4, { players: true, streets: true })[0]?.fields[1];
    if (!raise) throw new Error("there is no field");
    expect(problemAtSize(PROBLEMS, raise)).toBe("'33' is no size");
  });

  it("stand beside the right player's field", () => {
    const rows = sizeRows(4, { players: false, streets: false });
    const shown = rows.map(({ fields }) => fields[1] && problemAtSize(PROBLEMS, fields[1]));
    expect(shown).toEqual([null, "'33' is no size", null, "'33' is no size"]);
  });

  it("of a shared field are told once", () => {
    const shared = withoutRepeats(PROBLEMS, sizeRows(4, { players: true, streets: true }));
    expect(shared.map(({ field }) => field)).toEqual(["pot", "sizes.river.ip.raise", null]);
    const apart = withoutRepeats(PROBLEMS, sizeRows(4, { players: false, streets: false }));
    expect(apart).toEqual(PROBLEMS);
  });

  it("say in one line why there is nothing to solve", () => {
    expect(reasonNot([])).toBeNull();
    expect(reasonNot(PROBLEMS.slice(3))).toBe("this spot needs 20 GB");
    expect(reasonNot(PROBLEMS)).toContain("(and 3 more)");
  });
});

import { expect, test } from "vitest";
import { draftOf, fieldOf, fileOf, FIRST, list, nameOf, problemOf } from "./draft";

test("the form as it opens is a training file", () => {
  expect(fileOf(FIRST, "good")).toBe(
    [
      'name: "20 bb, open 2.5"',
      "solver:",
      "  type: unified_cfr",
      "  stack_depth: 20",
      "  limp: true",
      "  raise_sizes: {open: [2.5], over_limp: [3], 3bet: [3]}",
      '  postflop_bet_sizes: ["100%"]',
      "  max_raises_per_street: 0",
      "  quality: good",
      "",
    ].join("\n"),
  );
});

test("a cash game has rake, a tournament may have antes", () => {
  const cash = fileOf({ ...FIRST, format: "cash", rakeCap: "" }, "quick");
  expect(cash).toContain('  rake: "5%"\n');
  expect(cash).not.toContain("rake_cap");
  expect(fileOf({ ...FIRST, antes: "bb" }, "quick")).toContain("  bb_ante: 1\n");
  const each = { ...FIRST, antes: "each", ante: "0.125" } as const;
  expect(fileOf(each, "quick")).toContain("  ante: 0.125\n");
  expect(nameOf(each)).toBe("20 bb, antes 0.125, open 2.5");
});

test("push or fold asks for no size and no quality", () => {
  const text = fileOf({ ...FIRST, format: "push", limp: true }, "best");
  expect(text).toContain("  limp: false\n  raise_sizes: []\n  flops: spread_1\n  epochs: 3000\n");
  expect(text).not.toMatch(/quality|postflop/);
});

test("sizes that are left out are no sizes, and a limp that is not allowed is not raised", () => {
  const few = { ...FIRST, limp: false, open: "2, 2.5bb", threeBet: "" };
  expect(fileOf(few, "good")).toContain('  raise_sizes: {open: [2, "2.5bb"]}\n');
  expect(fileOf({ ...few, open: " " }, "good")).toContain("  raise_sizes: []\n");
  expect(list("33% 75%;a")).toBe('["33%", "75%", "a"]');
});

test("text cannot leave its field", () => {
  const text = fileOf({ ...FIRST, stack: '20"\n  cluster: auto', bet: "]}: #" }, "good");
  expect(text.split("\n")).toHaveLength(10);
  expect(text).toContain(String.raw`  stack_depth: "20\"\n  cluster: auto"`);
});

test("a problem stands at its field, in words for who sees no file", () => {
  const problems = [
    { field: "solver.raise_sizes.3bet[0]", message: "line 7: solver.raise_sizes.3bet[0]: '0.5' is not a raise" },
    { field: "solver.stack_depth", message: "solver.stack_depth: must be above 0, not 0" },
    { field: null, message: "this game needs 40 GB" },
  ].map((problem) => ({ ...problem, hints: [] }));
  expect(problems.map(fieldOf)).toEqual(["threeBet", "stack", null]);
  expect(problemOf(problems, "threeBet")).toBe("'0.5' is not a raise");
  expect(problemOf(problems, "stack")).toBe("must be above 0, not 0");
  expect(problemOf(problems, "bet")).toBeNull();
});

test("what the browser has kept is taken as far as it can be", () => {
  expect(draftOf(null)).toEqual(FIRST);
  for (const text of ["null", "[1]", "{", '"a"']) expect(draftOf(text)).toEqual(FIRST);
  expect(draftOf('{"stack": "33", "limp": "no", "format": "omaha"}')).toEqual({
    ...FIRST,
    stack: "33",
  });
});

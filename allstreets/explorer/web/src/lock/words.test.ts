import { expect, test } from "vitest";
import { change, counts, matters, missing } from "./words";

test("a lock needs a frequency or hands, as its way says", () => {
  expect(missing("at_most", null, [], "")).toContain("frequency");
  expect(missing("exactly", 130, [], "")).toContain("frequency");
  expect(missing("at_least", 30, [], "")).toBe("");
  expect(missing("hands", null, [], "")).toContain("Paint");
  expect(missing("hands", null, ["AA"], "")).toBe("");
  expect(missing("always", null, [], "")).toBe("");
  expect(missing("observed", null, [], " ")).toContain("Paste");
  expect(missing("observed", null, [], "node,action,frequency")).toBe("");
  expect(counts("as_is")).toBe(false);
});

test("actions that are never taken are of no interest", () => {
  expect(matters({ before: 0.0001, after: null })).toBe(false);
  expect(matters({ before: 0, after: 0.3 })).toBe(true);
});

test("changes have a sign, and none where nothing changes or nothing is known", () => {
  expect(change({ before: 44.65, after: 38.69 }, 2)).toBe("−5.96");
  expect(change({ before: 0.1, after: 0.3 }, 1, 100)).toBe("+20.0");
  expect(change({ before: 1, after: 1.0001 }, 2)).toBe("0.00");
  expect(change({ before: null, after: 1 }, 2)).toBe("–");
});

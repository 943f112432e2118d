import { expect, test } from "vitest";
import { HeldAnswers } from "../common/held-answers";
import { PRESETS, rangeAt, topShare } from "./sources";

test("a share is asked for in any of the usual words", () => {
  for (const typed of ["20", "20%", "20 %", "top 20 %", "Top 20%"]) {
    expect(topShare(typed)).toEqual({ label: "top 20 %", text: "20%" });
  }
  expect(topShare("12.5")?.text).toBe("12.5%");
  for (const typed of ["", "top", "0", "101", "AKs", "-5", "2 0"]) expect(topShare(typed)).toBeNull();
});

test("no two presets are called the same", () => {
  expect(new Set(PRESETS.map(({ label }) => label)).size).toBe(PRESETS.length);
});

test("a range is asked for by its solution, line and player", async () => {
  const server = new HeldAnswers();
  const asked = rangeAt("abc", "r2.5 c", "oop");
  await server.answer("GET /api/solutions/abc/range?line=r2.5+c&player=oop&kind=text", {
    text: "AA:1",
  });
  expect(await asked).toBe("AA:1");
});

import { expect, it } from "vitest";
import { decimals, perHundred } from "./library";

const real = (exploitability: number) => ({
  exploitability,
  low: 0,
  high: exploitability,
  outdated: false,
});

it("tells stacks and worths in few letters", () => {
  expect([decimals(20), decimals(12.5)]).toEqual(["20", "12.5"]);
  expect(perHundred(real(3.14))).toBe("0.31 bb/100");
  expect(perHundred(real(20))).toBe("2 bb/100");
  expect([perHundred(real(0.0001)), perHundred(null)]).toEqual(["", ""]);
});

import { expect, it } from "vitest";
import { curveData } from "./curve";

it("draws checks only, with the target beside them", () => {
  const points = [
    { iteration: 1, seconds: 0.1, exploitability: null, regret: null },
    { iteration: 10, seconds: 1, exploitability: 5, regret: null },
    { iteration: 20, seconds: 2, exploitability: 0, regret: null },
  ];
  expect(curveData(points, 0.3)).toEqual({
    iterations: [10, 20],
    exploitability: [5, null],
    target: [0.3, 0.3],
  });
});

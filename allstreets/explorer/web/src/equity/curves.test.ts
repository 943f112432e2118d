import { describe, expect, it } from "vitest";
import { places, sampled, SAMPLES } from "./curves";

describe("curves", () => {
  it("run from one end to the other", () => {
    const heights = sampled([
      [0, 0.1],
      [1, 0.9],
    ]);
    expect(heights).toHaveLength(SAMPLES + 1);
    places().forEach((x, at) => expect(heights[at]).toBeCloseTo(0.1 + 0.8 * x, 12));
  });

  it("keep steps", () => {
    const heights = sampled([
      [0, 0.2],
      [0.5, 0.2],
      [0.5, 0.7],
      [1, 0.7],
    ]);
    expect(heights[SAMPLES / 2 - 1]).toBeCloseTo(0.2, 12);
    expect(heights[SAMPLES / 2]).toBeCloseTo(0.7, 12);
    expect(heights[SAMPLES]).toBeCloseTo(0.7, 12);
  });

  it("have their area", () => {
    // Hands of equity 0.25 and 0.75 that are 30 % and 70 % of the range.
    const heights = sampled([
      [0, 0.25],
      [0.3, 0.25],
      [0.3, 0.75],
      [1, 0.75],
    ]) as number[];
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    expect(mean).toBeCloseTo(0.3 * 0.25 + 0.7 * 0.75, 2);
  });

  it("are nothing without points, and flat with one", () => {
    expect(sampled([])[7]).toBeNull();
    expect(sampled([[0, 0.4]])[SAMPLES]).toBe(0.4);
  });
});

import { describe, expect, it } from "vitest";
import {
  bytes,
  count,
  duration,
  fixed,
  often,
  percent,
  plain,
  quality,
  signed,
  significant,
} from "./format";

describe("numbers for people", () => {
  it("show a dash where there is none", () => {
    for (const show of [percent, often, fixed, signed, plain, significant, count, bytes, duration]) {
      for (const nothing of [null, undefined, Number.NaN]) expect(show(nothing)).toBe("–");
    }
  });

  it("are rounded to what can be read", () => {
    expect(percent(0.3333)).toBe("33.3 %");
    expect(percent(-0.05, 0)).toBe("−5 %");
    expect(fixed(-1.255, 1)).toBe("−1.3");
    expect(fixed(-0.001)).toBe("0.00");
    expect([signed(0.126), signed(-0.126), signed(0.001)]).toEqual(["+0.13", "−0.13", "0.00"]);
    expect(plain(2.5)).toBe("2.5");
    expect(plain(100)).toBe("100");
    expect(plain(20.0, 1)).toBe("20");
    expect(significant(0.012345)).toBe("0.0123");
    expect(count(1755.4)).toBe("1,755");
    expect([count(-0.3), significant(-0), percent(-0.001, 0)]).toEqual(["0", "0", "0 %"]);
  });

  it("are not nothing when there is something", () => {
    expect(often(0)).toBe("0.0 %");
    expect(often(1e-9)).toBe("<0.1 %");
    expect(often(1e-9, 2)).toBe("<0.01 %");
    expect(often(0.0006)).toBe("0.1 %");
    expect(often(0.5, 0)).toBe("50 %");
  });

  it("carry a unit that fits", () => {
    expect(quality(0.2296, "% of pot")).toBe("0.23 % of pot");
    expect(quality(1483.2, "mbb/hand")).toBe("1,480 mbb/hand");
    expect(quality(1.8e-6, "% of pot")).toBe("<0.0001 % of pot");
    expect(quality(0, "% of pot")).toBe("0 % of pot");
    expect(quality(null, "% of pot")).toBe("–");
    expect(bytes(950)).toBe("950 B");
    expect(bytes(1_520_000_000)).toBe("1.5 GB");
    expect(bytes(999_999)).toBe("1.0 MB");
    expect(duration(0.3)).toBe("0.3 s");
    expect(duration(75)).toBe("1 min 15 s");
    expect(duration(7300)).toBe("2 h 1 min");
  });
});

import { describe, expect, it } from "vitest";
import { groupOf, groupsOf } from "./groups";
import type { FlopRow } from "./table";

function row(flop: string, suits: string, weight: number, bet: number, ev: number | null): FlopRow {
  return {
    line: `c x | ${flop} |`,
    flop,
    suits,
    pairing: "unpaired",
    connectedness: "connected",
    high_card: flop.charAt(0),
    weight,
    share: 1,
    frequencies: [1 - bet, bet],
    ev_oop: ev,
    ev_ip: null,
    equity_oop: 0.5,
    equity_ip: 0.5,
    exploitability_pct: null,
    solution: null,
  };
}

const REPORT = { actions: ["x", "b"], pot: 4, paid: { oop: 1, ip: 1 } };
const ROWS = [
  row("Ts9h8d", "rainbow", 0.2, 0.5, 1),
  row("Js9s8s", "monotone", 0.2, 0.1, null),
  row("Qs9h8d", "rainbow", 0.6, 0.1, 2),
];

describe("groups of flops", () => {
  it("are means by weight, in a fixed order", () => {
    const [mono, rainbow] = groupsOf(ROWS, "suits", REPORT);
    expect(mono?.name).toBe("monotone");
    expect(rainbow?.count).toBe(2);
    expect(rainbow?.weight).toBeCloseTo(0.8);
    expect(rainbow?.frequencies[1]).toBeCloseTo((0.2 * 0.5 + 0.6 * 0.1) / 0.8);
    expect(rainbow?.ev_oop).toBeCloseTo((0.2 + 1.2) / 0.8);
    expect(mono?.ev_oop).toBeNull();
  });

  it("add up to the whole", () => {
    const total = groupOf("all", ROWS, REPORT);
    for (const by of ["suits", "high_card", "texture"] as const) {
      const groups = groupsOf(ROWS, by, REPORT);
      const bets = groups.reduce((sum, one) => sum + one.weight * (one.frequencies[1] ?? 0), 0);
      expect(bets).toBeCloseTo((total.frequencies[1] ?? 0) * total.weight);
    }
    expect((total.frequencies[0] ?? 0) + (total.frequencies[1] ?? 0)).toBeCloseTo(1);
  });

  it("realise equity from the decision on", () => {
    const group = groupOf("all", ROWS.slice(0, 1), REPORT);
    expect(group.eqr_oop).toBeCloseTo((1 + 1) / (0.5 * 4));
    expect(group.eqr_ip).toBeNull();
  });
});

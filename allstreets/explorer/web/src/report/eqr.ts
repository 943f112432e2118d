// The share of its equity that a range realises.

interface Ranges {
  ev_oop: number | null;
  ev_ip: number | null;
  equity_oop: number | null;
  equity_ip: number | null;
}

const LEAST_EQUITY = 0.005; // a share of less says nothing

/** EV from the decision on over equity times pot; `row` may be a flop or a group. */
export function eqr(
  row: Ranges,
  player: "oop" | "ip",
  pot: number,
  paid: Readonly<Record<string, number>>,
): number | null {
  const ev = row[`ev_${player}`];
  const equity = row[`equity_${player}`];
  if (ev === null || equity === null || equity <= LEAST_EQUITY || pot <= 0) return null;
  return (ev + (paid[player] ?? 0)) / (equity * pot);
}

// Flops that are solved exactly, in words for people.

import { bytes, duration, significant } from "../common/format";

// A flop stands between the bars of a line: "r2.5 c | QsJh2h | x".
const FLOP = /\|\s*(?:[2-9tjqka][cdhs][\s,]*){3}(?:\||$)/i;

/** Whether a line goes on after a flop: only then is there something to solve. */
export function namesFlop(line: string): boolean {
  return FLOP.test(line);
}

/** What solving takes: "about 3.6 GB, 0.85 s an iteration". */
export function costOf(memory: number | null, seconds: number | null): string {
  const parts = [
    memory === null ? "" : `about ${bytes(memory)}`,
    seconds === null ? "" : `${significant(seconds, 2)} s an iteration`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** Where a solve of a flop stands: "2.1 % of pot after 40 iterations, about 1 min left". */
export function wayOf(
  progress: { exploitability: number | null; iteration: number; eta_seconds: number | null } | null,
): string {
  if (progress === null || progress.exploitability === null) return "getting ready";
  const left = progress.eta_seconds === null ? "" : `, about ${duration(progress.eta_seconds)} left`;
  return `${significant(progress.exploitability, 2)} % of pot after ${progress.iteration} iterations${left}`;
}

// The cost of training a whole game, in words.

import type { Schemas } from "../api/client";
import { bytes, count, duration, quality, significant } from "../common/format";

type Estimate = Schemas["GameEstimate"];

/** "18 min, 9.3 GB": the time and the memory that it takes. */
export function tookOf({ seconds, memory_bytes: memory }: Estimate): string {
  return `${seconds === null ? "–" : minutes(seconds)}, ${bytes(memory)}`;
}

function minutes(seconds: number): string {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${significant(seconds / 3600, 2)} h`;
}

/** "25 flops, 32 river buckets, 150 iterations". */
export function sizeOf({ flops, buckets, iterations, pots }: Estimate): string {
  if (pots === 0) return "no flop is seen";
  const parts: [number | null, string][] = [
    [flops, "flops"],
    [buckets, "river buckets"],
    [iterations, "iterations"],
  ];
  return parts.flatMap(([much, what]) => (much === null ? [] : [`${count(much)} ${what}`])).join(", ");
}

/** The expected worth of the solution with real cards. */
export function expectedOf(estimate: Estimate): string {
  const { expected_mbb: expected, expected_factor: factor, pots } = estimate;
  if (pots === 0) return "solved exactly";
  if (expected === null || factor === null) return "its worth with real cards is not known";
  const [low, about, high] = [expected / factor, expected, expected * factor].map((mbb) =>
    significant(mbb, 2),
  );
  return `a perfect opponent wins about ${about} mbb/hand (${low} to ${high})`;
}

/** Lines of (name, amount), as far as known. */
export function costsOf(estimate: Estimate): [string, string][] {
  const { setup_seconds: setup, seconds_per_iteration: iteration } = estimate;
  const seen = estimate.pots !== 0; // flops
  const free = estimate.free_bytes === null ? "" : ` of ${bytes(estimate.free_bytes)} free`;
  const lines: [string, string | null][] = [
    ["Game", estimate.title || null],
    ["Memory", estimate.memory_bytes === null ? null : bytes(estimate.memory_bytes) + free],
    ["On disk", estimate.disk_bytes === null ? null : bytes(estimate.disk_bytes)],
    ["Set-up", setup === null || setup < 1 ? null : `about ${duration(setup)}`],
    ["Iterations", estimate.iterations === null ? null : count(estimate.iterations)],
    ["Each", iteration === null ? null : `about ${significant(iteration, 2)} s`],
    ["In all", estimate.seconds === null ? null : `at most about ${duration(estimate.seconds)}`],
    ["Ends at", estimate.target === null ? null : quality(estimate.target, "mbb/hand")],
    ["With real cards", estimate.expected_mbb === null ? null : expectedOf(estimate)],
    ["Flops", estimate.flops === null ? null : seen ? count(estimate.flops) : sizeOf(estimate)],
    ["Pots that see one", estimate.pots === null || !seen ? null : count(estimate.pots)],
    ["Decisions on each", estimate.decisions === null || !seen ? null : count(estimate.decisions)],
  ];
  return lines.filter((line): line is [string, string] => line[1] !== null);
}

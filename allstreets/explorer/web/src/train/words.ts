// What training a whole game takes, in words for people.

import type { Schemas } from "../api/client";
import { bytes, count, duration, quality, significant } from "../common/format";

type Estimate = Schemas["GameEstimate"];

/** Lines of (what, how much), as far as it is known. */
export function costsOf(estimate: Estimate): [string, string][] {
  const { setup_seconds: setup, seconds_per_iteration: iteration } = estimate;
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
    ["Flops", estimate.flops === null ? null : count(estimate.flops)],
    ["Pots that see one", estimate.pots === null ? null : count(estimate.pots)],
    ["Decisions on each", estimate.decisions === null ? null : count(estimate.decisions)],
  ];
  return lines.filter((line): line is [string, string] => line[1] !== null);
}

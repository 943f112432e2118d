// Events of a solve, and how they update its state.

import type { Schemas } from "../api/client";

export type Solve = Schemas["Solve"];
export type SolveState = Solve["state"];
export type CurvePoint = Schemas["CurvePoint"];

const GOES_ON: readonly SolveState[] = [
  "waiting",
  "starting",
  "running",
  "paused",
  "stopping",
];

/** Whether more events will come. */
export function goesOn(state: SolveState): boolean {
  return GOES_ON.includes(state);
}

/**
 * A curve with new points. The first event of a stream brings the whole curve again, and a solve
 * that resumes from its last save repeats iterations: new points replace the repeated ones.
 */
export function joined(known: readonly CurvePoint[], fresh: readonly CurvePoint[]): CurvePoint[] {
  const [first] = fresh;
  if (!first) return [...known];
  return [...known.filter((point) => point.iteration < first.iteration), ...fresh];
}

/** How long to wait before the next attempt to reach the server, in milliseconds. */
export function retryDelay(attempt: number): number {
  return Math.min(10_000, 500 * 2 ** attempt);
}

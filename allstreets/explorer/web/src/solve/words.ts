// Solves in words for people.

import { duration, significant } from "../common/format";
import { goesOn, type Solve, type SolveState } from "./events";

const STATES: Readonly<Record<SolveState, string>> = {
  starting: "starting",
  running: "solving",
  paused: "paused",
  stopping: "stopping",
  done: "solved",
  stopped: "stopped",
  interrupted: "cut off",
  failed: "failed",
};

export function stateWord(state: SolveState): string {
  return STATES[state];
}

/** What there is to say of a solve beyond its state. */
export function newsOf({ state, note, reason, error }: Solve): string {
  return error ?? note ?? reason ?? (state === "starting" ? "Getting ready …" : "");
}

/** How long ago: "just now", "5 min ago", "3 days ago". */
export function age(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

/** What may be done with a solve, by the words of its buttons. */
export interface Offers {
  pause: boolean;
  stop: boolean;
  resume: string | null; // what the button says
}

export function offers(solve: Pick<Solve, "state" | "progress" | "target_pct">): Offers {
  const { state, progress, target_pct: target } = solve;
  // One that ended for another reason, its time being up, has a way to go.
  const reached = state === "done" && (progress?.exploitability ?? Infinity) <= target;
  return {
    pause: state === "running",
    stop: goesOn(state) && state !== "stopping",
    resume: state === "paused" ? "Resume" : goesOn(state) || reached ? null : "Go on",
  };
}

/** Time that is left, in words; an estimate that does not exist yet is none. */
export function timeLeft(solve: Solve): string {
  const left = solve.progress?.eta_seconds;
  if (solve.state !== "running" || left === null || left === undefined) return "–";
  return left > 86_400 ? "more than a day" : `about ${duration(left)}`;
}

/**
 * How far a solve has come towards its target, 0 … 1. Exploitability falls by factors, so it is its
 * logarithm that moves evenly; `first` is where the curve began.
 */
export function advance(first: number | null, now: number | null, target: number): number {
  if (first === null || now === null) return 0;
  if (now <= target) return 1;
  if (first <= target || now >= first || now <= 0) return 0;
  return Math.log(first / now) / Math.log(first / target);
}

/** A share of the pot in per cent, as people read it. */
export function ofPot(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : `${significant(value, 2)} %`;
}

// Solves in words for people.

import { count, DASH, duration, quality, significant } from "../common/format";
import { goesOn, type Solve, type SolveState } from "./events";

const STATES: Readonly<Record<SolveState, string>> = {
  waiting: "in line",
  starting: "starting",
  running: "solving",
  paused: "paused",
  stopping: "stopping",
  done: "solved",
  stopped: "stopped",
  interrupted: "cut off",
  failed: "failed",
};

const REVIEW_STATES: Readonly<Partial<Record<SolveState, string>>> = {
  running: "reviewing",
  done: "reviewed",
};

export function stateWord(state: SolveState, review: string | null = null): string {
  return (review === null ? null : REVIEW_STATES[state]) ?? STATES[state];
}

/** The progress of a solve, in a few words. */
export function reachedText({ review, progress, unit }: Solve): string {
  if (review === null) return quality(progress?.exploitability, unit);
  return progress ? `${count(progress.iteration)} of ${count(progress.total)} hands` : DASH;
}

/** The notes on a solve beyond its state. */
export function newsOf({ state, place, note, reason, error }: Solve): string {
  const usual = state === "starting" ? "Getting ready …" : placeWord(place);
  return error ?? note ?? reason ?? usual;
}

/** The place of a solve in the queue; "" if it does not wait. */
export function placeWord(place: number | null): string {
  if (place === null) return "";
  const before = place - 1;
  if (before === 0) return "Next: it starts when the running one has ended.";
  return `It starts when the running one and ${before} more have ended.`;
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

/** The commands for a solve, by the words of its buttons. */
export interface Offers {
  pause: boolean;
  stop: string | null; // what the button says
  resume: string | null; // what the button says
}

export function offers(solve: Pick<Solve, "state" | "progress" | "target">): Offers {
  const { state, progress, target } = solve;
  // One that ended for another reason, its time being up, has a way to go to its target.
  const reached =
    state === "done" && (progress?.exploitability ?? Infinity) <= (target ?? Infinity);
  const stops = goesOn(state) && state !== "stopping";
  return {
    pause: state === "running",
    stop: stops ? (state === "waiting" ? "Cancel" : "Stop") : null,
    resume: state === "paused" ? "Resume" : goesOn(state) || reached ? null : "Continue",
  };
}

/** The remaining time, in words; none without an estimate. */
export function timeLeft(solve: Solve): string {
  const left = solve.progress?.eta_seconds;
  if (solve.state !== "running" || left === null || left === undefined) return "–";
  return left > 86_400 ? "more than a day" : `about ${duration(left)}`;
}

/**
 * How far a solve has come towards its target, 0 … 1. Exploitability falls by factors, so it is its
 * logarithm that moves evenly; `first` is where the curve began.
 */
export function advance(first: number | null, now: number | null, target: number | null): number {
  if (first === null || now === null || target === null) return 0;
  if (now <= target) return 1;
  if (first <= target || now >= first || now <= 0) return 0;
  return Math.log(first / now) / Math.log(first / target);
}

/** A figure and its unit, for two places: "0.23 %" and "of pot", "1.2" and "mbb/hand". */
export function figureOf(value: number | null | undefined, unit: string): [string, string] {
  const percent = unit.startsWith("%");
  const text = significant(value, 2);
  return percent && text !== DASH ? [`${text} %`, unit.slice(2)] : [text, unit.replace("% ", "")];
}

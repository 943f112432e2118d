// A decision in words.

import type { Schemas } from "../api/client";
import { RANKS } from "../common/cards";
import { fixed } from "../common/format";

type Verdict = Schemas["PracticeVerdict"];
type Draw = Schemas["PracticeDraw"];
type Source = Schemas["PracticeSource"];

const LEAST = 5e-4; // of a mix: less is not shown

/** The cell of the grid that two cards are in: "AKs", "77". */
export function classOf(cards: readonly string[]): string {
  const [first = "", second = ""] = [...cards].sort(
    (one, other) => RANKS.indexOf(one[0] ?? "") - RANKS.indexOf(other[0] ?? ""),
  );
  const ranks = `${first[0] ?? ""}${second[0] ?? ""}`;
  if (first[0] === second[0]) return ranks;
  return ranks + (first[1] === second[1] ? "s" : "o");
}

/** What a decision cost. */
export function verdictText(verdict: Verdict): string {
  if (verdict.loss === null) return `Not graded: ${verdict.note}`;
  const lost = verdict.loss >= LEAST ? `${fixed(verdict.loss, 3)} bb lost` : "nothing lost";
  const best = verdict.options.find((option) => option.word === verdict.best)?.label;
  return verdict.missed ? `${lost}. Best: ${best ?? verdict.best ?? ""}` : `Right, ${lost}`;
}

function total(numbers: readonly number[], one: string): string {
  const sum = numbers.reduce((before, each) => before + each, 0);
  return `${sum} ${one}${sum === 1 ? "" : "s"}`;
}

/** The results that deleting all would lose. */
export function lostText(sources: readonly Source[]): string {
  const hands = total(
    sources.map((one) => one.hands),
    "hand",
  );
  const on = sources.length === 1 ? (sources[0]?.name ?? "") : `${sources.length} solutions`;
  const waiting = sources.map((one) => one.waiting);
  const back = waiting.some((one) => one > 0)
    ? `, with ${total(waiting, "decision")} to come back`
    : "";
  return `Delete all results: ${hands} on ${on}${back}? They cannot be restored.`;
}

/** A draw of the solution: "flop: BB x, drew 0.312 (x to 0.78, b50% to 1.00)". */
export function drawText(draw: Draw): string {
  let end = 0;
  const parts: string[] = [];
  for (const [word, share] of draw.mix) {
    end += share;
    if (share > LEAST) parts.push(`${word} to ${fixed(Math.min(end, 1), 2)}`);
  }
  const number = fixed(draw.number, 3);
  return `${draw.street}: ${draw.seat} ${draw.action}, drew ${number} (${parts.join(", ")})`;
}

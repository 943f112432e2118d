// The quality of a solution, the game it refers to, and its meaning for players.
import type { Schemas } from "../api/client";
import { quality, significant } from "./format";

type Card = Pick<Schemas["SolutionCard"], "kind" | "exploitability" | "unit" | "real" | "simple">;

/** How far a solution can be trusted; unknown: its result with real cards is not known. */
export type Trust = "good" | "fair" | "poor" | "unknown";

export interface Verdict {
  trust: Trust;
  word: string; // "far from equilibrium"
  meaning: string; // what the figure says, in a sentence without a full stop
}

const WORDS: Readonly<Record<Exclude<Trust, "unknown">, string>> = {
  good: "close to equilibrium",
  fair: "a rough equilibrium",
  poor: "far from equilibrium",
};
const SOLVED = "solved, a perfect opponent wins nothing";
// The limits of good and of fair figures.
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  "mbb/hand": [10, 50], // 1 and 5 bb/100
  "% of pot": [0.5, 2],
};

const EXACT = 0.001; // mbb/hand: what is worth no more is solved

function grade(value: number, unit: string): Exclude<Trust, "unknown"> {
  const [good, fair] = LIMITS[unit] ?? [0, 0];
  return value <= good ? "good" : value <= fair ? "fair" : "poor";
}

/** The gain of a perfect opponent: "wins 16.6 bb/100", "gains 0.23 % of the pot". */
function loss(value: number, unit: string): string {
  return unit === "mbb/hand"
    ? `wins ${significant(value / 10)} bb/100`
    : `gains ${significant(value)} % of the pot`;
}

/** The meaning of the figure of `worth`, and how far to trust it. */
export function verdict(card: Card): Verdict {
  const { real, unit, exploitability: own } = card;
  if (real) {
    const meaning = `certified, a perfect opponent ${loss(real.exploitability, unit)}`;
    if (!real.outdated) {
      const trust = grade(real.exploitability, unit);
      const exact = real.high <= EXACT && unit === "mbb/hand";
      return { trust, word: exact ? "exact" : WORDS[trust], meaning: exact ? SOLVED : meaning };
    }
    return { trust: "unknown", word: "certificate outdated", meaning: `${meaning} before it changed` };
  }
  if (own === null) {
    return { trust: "unknown", word: "not measured", meaning: "its accuracy is unknown" };
  }
  const trust = grade(own, unit);
  const meaning = `a perfect opponent ${loss(own, unit)}`;
  if (card.kind === "spot") return { trust, word: WORDS[trust], meaning };
  if (card.kind === "spots") {
    return { trust, word: WORDS[trust], meaning: `${meaning} on the worst board` };
  }
  // A solution that is far off in its own game is so with real cards as well; else it is not known.
  const whole = card.kind === "unified";
  return {
    trust: trust === "poor" ? "poor" : "unknown",
    word: trust === "poor" ? WORDS.poor : whole ? "not certified" : "a model",
    meaning: `${meaning} there; ${whole ? "not certified" : "it says nothing"} with real cards`,
  };
}

/** The game of a figure without a certificate; "": the real game. */
function ofWhat({ kind, simple }: Card): string {
  if (kind === "unified") return ` ${simple?.judged ?? "in its own game"}`;
  if (kind === "spots") return " on the worst board";
  return kind === "spot" ? "" : " within its model";
}

/** The quality of a solution, and its game: "12.3 mbb/hand with real cards", "… in its own game". */
export function worth(card: Card): string {
  if (card.real) {
    const { exploitability, outdated } = card.real;
    return `${quality(exploitability, card.unit)} with real cards${outdated ? ", before it changed" : ""}`;
  }
  const own = card.exploitability === null ? "" : ofWhat(card);
  return quality(card.exploitability, card.unit) + own;
}

/** What `worth` leaves out. */
export function worthTitle(card: Card): string {
  const said = verdict(card).meaning;
  if (card.real) {
    const { low, high } = card.real;
    const span = low === high ? "" : `; 95 % between ${significant(low)} and ${significant(high)}`;
    return `With real cards: ${said}${span}; ${quality(card.exploitability, card.unit)}${ofWhat(card)}`;
  }
  if (card.exploitability === null) return "Exploitability was not measured";
  const sentence = said.charAt(0).toUpperCase() + said.slice(1);
  return card.kind === "unified" ? `${sentence}: allstreets certify measures it` : sentence;
}

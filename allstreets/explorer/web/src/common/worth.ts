// How good a solution is, and in which game.
import type { Schemas } from "../api/client";
import { quality, significant } from "./format";

type Card = Pick<Schemas["SolutionCard"], "kind" | "exploitability" | "unit" | "real">;

/** How good a solution is, and where: "12.3 mbb/hand with real cards", "… in its own game". */
export function worth(card: Card): string {
  if (card.real) {
    const { exploitability, outdated } = card.real;
    return `${quality(exploitability, card.unit)} with real cards${outdated ? ", before it changed" : ""}`;
  }
  const own = card.kind === "unified" && card.exploitability !== null ? " in its own game" : "";
  return quality(card.exploitability, card.unit) + own;
}

/** What `worth` leaves out. */
export function worthTitle(card: Card): string {
  const own = `${quality(card.exploitability, card.unit)} in its own game`;
  if (card.real) {
    const { low, high } = card.real;
    const span = low === high ? "" : `95 % between ${significant(low)} and ${significant(high)}; `;
    return `${span}${own}`;
  }
  if (card.exploitability === null) return "not measured";
  return card.kind === "unified"
    ? "What it is worth with real cards is not known: allstreets certify finds out"
    : "Exploitability";
}

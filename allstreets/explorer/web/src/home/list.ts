// The list of solutions: what fits a filter, and how old things are.

import type { Schemas } from "../api/client";

type SolutionCard = Schemas["SolutionCard"];

/** The solutions in which every word of a text occurs. */
export function found(cards: readonly SolutionCard[], text: string): SolutionCard[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return cards.filter((card) => {
    const all = [card.name, card.note, card.title, card.kind, card.folder].join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const STEPS: readonly (readonly [number, string])[] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/** How long ago something was, both in seconds since 1970. */
export function age(then: number, now: number): string {
  const seconds = now - then;
  for (const [length, name] of STEPS) {
    const count = Math.floor(seconds / length);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

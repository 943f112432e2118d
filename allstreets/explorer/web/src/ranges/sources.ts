// Where a range may come from, besides being painted: presets, and players of solutions.

import { get, type Schemas } from "../api/client";
import type { PlayerName } from "../app/address";

export interface Preset {
  label: string;
  text: string; // as ranges are written
}

export const PRESETS: readonly Preset[] = [
  { label: "any two cards", text: "random" },
  ...[5, 10, 15, 20, 30, 40, 50, 70].map((share) => ({
    label: `top ${share} %`,
    text: `${share}%`,
  })),
  { label: "pairs", text: "22+" },
  { label: "broadway", text: "TT+,ATs+,KTs+,QTs+,JTs,ATo+,KTo+,QTo+,JTo" },
];

/** A share typed as "20", "20 %" or "top 20%"; null: not a share. */
export function topShare(typed: string): Preset | null {
  const found = /^(?:top\s*)?(\d+(?:\.\d+)?)\s*%?$/i.exec(typed.trim());
  const share = Number(found?.[1]);
  if (!found || !(share > 0 && share <= 100)) return null;
  return { label: `top ${share} %`, text: `${share}%` };
}

/** A solution that ranges can be taken from: one with a line of play. */
export function hasLines({ kind }: Schemas["SolutionCard"]): boolean {
  return kind === "unified" || kind === "preflop" || kind === "spot";
}

/** The range with which a player gets to the end of a line of a solution, as text. */
export async function rangeAt(
  solution: string,
  line: string,
  player: PlayerName,
  signal?: AbortSignal,
): Promise<string> {
  const query = { line, player, action: null, kind: "text" } as const;
  const found = await get("/api/solutions/{solution}/range", {
    path: { solution },
    query,
    ...(signal && { signal }),
  });
  return found.text;
}

// What the cells of the 13×13 grid show. The numbers are the server's; here they get their look.

import type { Schemas } from "../api/client";
import type { Mode, PlayerName } from "../app/address";
import { GRID_HANDS } from "../common/cards";
import {
  actionParts,
  amountColour,
  barBackground,
  heatColour,
  type Part,
} from "../common/colours";
import { fixed, percent } from "../common/format";

type PlayerGrid = Schemas["PlayerGrid"];
type Action = Schemas["ActionFigures"];

export interface Cell {
  hand: string;
  reached: boolean; // some of it gets here
  locked: boolean; // what it does here was given, for some of its combos at least
  background: string;
  height: number; // of the background, 0 … 1
  ink: Ink; // what letters can be read on it
  text: string; // under the hand's name
  label: string; // for who cannot see it
}

/** For strong colours, for pale ones, or where some of the cell is empty: as the look has it. */
export type Ink = "strong" | "pale" | "look";

export interface Scale {
  low: number;
  high: number;
  text: (value: number) => string;
  colour: (share: number) => string;
}

export interface Shown {
  hands: readonly string[]; // in the order of the server's lists
  grid: PlayerGrid;
  actions: readonly Action[]; // of this player; empty where he does not act
  locked: readonly number[]; // of this player: the share of a hand's combos; empty likewise
  learned: boolean; // whether what is shown means something: false where nobody gets to
  mode: Mode;
  player: PlayerName;
}

const LEAST_HEIGHT = 0.08; // of a hand that seldom gets here: still to be seen
const DUST = 1e-3; // of the hand that gets here most: less is left of actions that are never taken
const FULL = 0.9; // so high that the name stands on the colours

export function cellsOf(shown: Shown): Cell[] {
  const places = new Map(shown.hands.map((hand, place) => [hand, place]));
  const most = Math.max(...shown.grid.reach, 1e-12);
  const scale = scaleOf(shown);
  return GRID_HANDS.map((hand) => {
    const place = places.get(hand) ?? -1;
    const reach = shown.grid.reach[place] ?? 0;
    if (reach / most < DUST) return emptyCell(hand, reach);
    return filledCell(shown, scale, place, hand, reach / most);
  });
}

function filledCell(
  shown: Shown,
  scale: Scale | null,
  place: number,
  hand: string,
  share: number,
): Cell {
  const locked = (shown.locked[place] ?? 0) > 0;
  const height = scale ? 1 : Math.max(share, LEAST_HEIGHT);
  const look = scale
    ? valueLook(shown, scale, place, hand)
    : { ink: inkOn(height), ...strategyLook(shown, place, hand) };
  const notes = [locked ? "locked" : "", shown.learned ? "" : "not reached: nothing was learned"];
  const label = [look.label, ...notes].filter(Boolean).join("; ");
  return { hand, reached: true, locked, height, ...look, label };
}

function inkOn(height: number): Ink {
  return height >= FULL ? "strong" : "look";
}

function emptyCell(hand: string, reach: number): Cell {
  const label = `${hand}: ${reach > 0 ? "hardly ever here" : "not here"}`;
  const look = { background: "none", height: 0, ink: "look" as const, text: "" };
  return { hand, reached: false, locked: false, ...look, label };
}

/** Whose play here was given; "" where nobody's was. */
export function lockedWords(locked: readonly number[], grid: PlayerGrid, seat: string): string {
  const held = locked.filter((_, place) => (grid.reach[place] ?? 0) > 0);
  const some = held.filter((share) => share > 0).length;
  if (!some) return "";
  const whose = held.every((share) => share >= 1) ? "all hands" : `${some} of ${held.length} hands`;
  return `locked: what ${seat} does here was given for ${whose}, not found`;
}

type Look = Pick<Cell, "background" | "text" | "label">;

function strategyLook(shown: Shown, place: number, hand: string): Look {
  const reach = percent(shown.grid.reach[place]);
  if (!shown.actions.length) {
    return {
      background: barBackground([{ colour: `var(--${shown.player})`, share: 1 }]),
      text: "",
      label: `${hand}: reach ${reach}`,
    };
  }
  const chances = shown.actions.map((action) => action.chances[place]);
  const parts: Part[] = actionParts(shown.actions, chances);
  const words = shown.actions
    .map((action, at) => `${action.label} ${percent(chances[at], 0)}`)
    .join(", ");
  const most = Math.max(...chances.map((chance) => chance ?? 0));
  return {
    background: barBackground(parts),
    text: parts.length ? String(Math.round(100 * most)) : "",
    label: `${hand}: ${parts.length ? words : "nothing known"}; reach ${reach}`,
  };
}

function valueLook(shown: Shown, scale: Scale, place: number, hand: string): Look & { ink: Ink } {
  const value = valuesOf(shown.grid, shown.mode)[place] ?? null;
  if (value === null) {
    return { background: "none", ink: "look", text: "–", label: `${hand}: not known` };
  }
  const span = scale.high - scale.low;
  const share = span > 0 ? (value - scale.low) / span : 0.5;
  return {
    background: barBackground([{ colour: scale.colour(share), share: 1 }]),
    ink: shown.mode === "reach" ? "look" : "pale",
    text: scale.text(value),
    label: `${hand}: ${shown.mode} ${scale.text(value)}`,
  };
}

function valuesOf(grid: PlayerGrid, mode: Mode): readonly (number | null)[] {
  switch (mode) {
    case "ev":
      return grid.ev;
    case "equity":
      return grid.equity;
    case "eqr":
      return grid.eqr;
    default:
      return grid.reach;
  }
}

const inPercent = (value: number): string => (100 * value).toFixed(0);

/** How numbers become colours; null where the mode shows no numbers. */
export function scaleOf({ grid, mode }: Pick<Shown, "grid" | "mode">): Scale | null {
  if (mode === "strategy") return null;
  if (mode === "equity") return { low: 0, high: 1, text: inPercent, colour: heatColour };
  // 1 is what equity alone would bring, so it stands in the middle.
  if (mode === "eqr") return { low: 0, high: 2, text: inPercent, colour: heatColour };
  const held = valuesOf(grid, mode).filter(
    (value, place): value is number => value !== null && (grid.reach[place] ?? 0) > 0,
  );
  if (mode === "reach") {
    return { low: 0, high: Math.max(...held, 1e-12), text: inPercent, colour: amountColour };
  }
  const [low, high] = held.length ? [Math.min(...held), Math.max(...held)] : [0, 0];
  const digits = digitsFor(Math.max(Math.abs(low), Math.abs(high)));
  return { low, high, text: (value) => fixed(value, digits), colour: heatColour };
}

/** So many digits after the point that three or four stand in all. */
export function digitsFor(largest: number): number {
  if (largest >= 100) return 0;
  return largest >= 10 ? 1 : 2;
}

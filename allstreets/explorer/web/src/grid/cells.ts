// The cells of the 13×13 grid. The numbers are the server's; here they get their look.

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

type PlayerGrid = Pick<Schemas["PlayerGrid"], "reach" | "ev" | "equity" | "eqr">;
type Action = Pick<
  Schemas["ActionFigures"],
  "word" | "label" | "short" | "tone" | "shade" | "chances" | "evs"
>;

export interface Cell {
  hand: string;
  reached: boolean; // some of it gets here
  locked: boolean; // its strategy is locked here, for some of its combos at least
  background: string;
  height: number; // of the background, 0 … 1
  ink: Ink; // what letters can be read on it
  code: string; // of the action that `text` counts: "F", "B33"; "": it counts none
  text: string; // under the hand's name
  label: string; // for people who cannot see it
}

/** For strong colours, for pale ones, or where the cell is empty: as the look has it. */
export type Ink = "strong" | "pale" | "look";

export interface Scale {
  low: number;
  high: number;
  text: (value: number) => string;
  colour: (share: number) => string;
}

/** The play of another solution with the hands of the player who acts. */
export interface Beside {
  name: string; // of the solution
  cells: readonly (number | null)[]; // how often each hand acts differently
  actions: readonly { label: string; chances: readonly (number | null)[] }[]; // there
}

export interface Shown {
  hands: readonly string[]; // in the order of the server's lists
  grid: PlayerGrid;
  actions: readonly Action[]; // of this player; empty where he does not act
  locked: readonly number[]; // of this player: the share of a hand's combos; empty likewise
  learned: boolean; // false: no hand gets here, so the figures mean nothing
  mode: Mode;
  full?: boolean; // cells of a strategy are filled, however seldom a hand gets here
  player: PlayerName;
  action: string | null; // whose EVs are shown; null, or none of `actions`: those of the strategy
  beside?: Beside | null; // of this player, where it is known
}

const LEAST_HEIGHT = 0.08; // of a hand that seldom gets here: still to be seen
const DUST = 1e-3; // of the hand that gets here most: less is left of actions that are never taken

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
  const height = scale || (shown.full && shown.actions.length) ? 1 : Math.max(share, LEAST_HEIGHT);
  const look = scale
    ? valueLook(shown, scale, place, hand)
    : { ink: "strong" as const, ...strategyLook(shown, place, hand) };
  const notes = [locked ? "locked" : "", shown.learned ? "" : "not reached: nothing was learned"];
  const label = [look.label, ...notes].filter(Boolean).join("; ");
  return { hand, reached: true, locked, height, ...look, label };
}

function emptyCell(hand: string, reach: number): Cell {
  const label = `${hand}: ${reach > 0 ? "hardly ever here" : "not here"}`;
  const look = { background: "none", height: 0, ink: "look" as const, code: "", text: "" };
  return { hand, reached: false, locked: false, ...look, label };
}

/** The hands with a locked strategy; "" for none. */
export function lockedWords(locked: readonly number[], grid: PlayerGrid, seat: string): string {
  const held = locked.filter((_, place) => (grid.reach[place] ?? 0) > 0);
  const some = held.filter((share) => share > 0).length;
  if (!some) return "";
  const whose = held.every((share) => share >= 1) ? "all hands" : `${some} of ${held.length} hands`;
  return `locked: ${seat}'s strategy here was given for ${whose}, not solved`;
}

/**
 * Actions in a letter or two: F(old), X for a check, C(all), L(imp), A(ll-in); B(et) and R(aise) with
 * their size where there are several.
 */
export function codesOf(actions: readonly { short: string }[]): string[] {
  const letters = actions.map(({ short }) => (short.startsWith("Check") ? "X" : short.charAt(0)));
  return letters.map((letter, at) => {
    const alone = letters.indexOf(letter) === letters.lastIndexOf(letter);
    return alone ? letter : letter + (/[\d.]+/.exec(actions[at]?.short ?? "")?.[0] ?? "");
  });
}

const ROOM = 5; // letters and digits in the lower line of a cell

/** A code beside a number: "R100" and "57" would read as R10057, so the letter stands alone there. */
function fitting(code: string, text: string): string {
  return code.length + text.length > ROOM ? code.charAt(0) : code;
}

type Look = Pick<Cell, "background" | "code" | "text" | "label">;

function strategyLook(shown: Shown, place: number, hand: string): Look {
  const reach = percent(shown.grid.reach[place]);
  if (!shown.actions.length) {
    return {
      background: barBackground([{ colour: `var(--${shown.player}-cell)`, share: 1 }]),
      code: "",
      text: "",
      label: `${hand}: reach ${reach}`,
    };
  }
  const chances = shown.actions.map((action) => action.chances[place]);
  const parts: Part[] = actionParts(shown.actions, chances);
  const words = wordsOf(shown.actions, place);
  const most = Math.max(...chances.map((chance) => chance ?? 0));
  const text = parts.length ? String(Math.round(100 * most)) : "";
  return {
    background: barBackground(parts),
    code: parts.length
      ? fitting(codesOf(shown.actions)[chances.findIndex((chance) => (chance ?? 0) === most)] ?? "", text)
      : "",
    text,
    label: `${hand}: ${parts.length ? words : "nothing known"}; reach ${reach}`,
  };
}

/** The frequencies of a hand's actions, in words. */
function wordsOf(
  actions: readonly { label: string; chances: readonly (number | null)[] }[],
  place: number,
): string {
  return actions
    .map((action) => `${action.label} ${percent(action.chances[place], 0)}`)
    .join(", ");
}

function valueLook(shown: Shown, scale: Scale, place: number, hand: string): Look & { ink: Ink } {
  const value = valuesOf(shown)[place] ?? null;
  if (value === null) {
    const label = `${hand}: ${shown.mode === "difference" ? "not in both solutions" : "not known"}`;
    return { background: "none", ink: "look", code: "", text: "–", label };
  }
  const of = actionOf(shown);
  const span = scale.high - scale.low;
  const share = span > 0 ? (value - scale.low) / span : 0.5;
  return {
    background: barBackground([{ colour: scale.colour(share), share: 1 }]),
    ink: shown.mode === "reach" || shown.mode === "difference" ? "strong" : "pale",
    code: "",
    text: scale.text(value),
    label: shown.beside && shown.mode === "difference"
      ? differenceWords(shown.actions, shown.beside, place, hand, value)
      : `${hand}: ${MODE_WORDS[shown.mode]}${of ? ` of ${of.label}` : ""} ${scale.text(value)}`,
  };
}

/** The play of both solutions with a hand. */
function differenceWords(
  actions: readonly Action[],
  beside: Beside,
  place: number,
  hand: string,
  value: number,
): string {
  const [here, there] = [wordsOf(actions, place), wordsOf(beside.actions, place)];
  return `${hand}: acts differently ${percent(value)} of the time; here: ${here}; ${beside.name}: ${there}`;
}

const MODE_WORDS: Readonly<Record<Mode, string>> = {
  strategy: "strategy",
  ev: "EV",
  loss: "EV loss",
  equity: "equity",
  eqr: "EQR",
  reach: "reach",
  difference: "difference",
};

type Values = Pick<Shown, "grid" | "mode" | "actions" | "action" | "beside">;

/** The action whose EVs are shown, in the modes where there is a choice. */
function actionOf({ mode, actions, action }: Values): Action | null {
  const chosen = mode === "ev" || mode === "loss";
  return (chosen && actions.find((one) => one.word === action)) || null;
}

/** [169]: the EV that a hand gives up against its best action, by an action or by its strategy. */
function lossesOf(actions: readonly Action[], taken: Action | null): (number | null)[] {
  return (actions[0]?.evs ?? []).map((_, place) => {
    const evs = actions.map((action) => action.evs[place] ?? null);
    const best = Math.max(...evs.map((ev) => ev ?? -Infinity));
    const chances = actions.map((one) => (taken ? Number(one === taken) : (one.chances[place] ?? 0)));
    const known = evs.every((ev, at) => ev !== null || chances[at] === 0);
    if (!known || !Number.isFinite(best) || !chances.some((chance) => chance > 0)) return null;
    const total = chances.reduce((sum, chance) => sum + chance, 0);
    const played = evs.reduce<number>((sum, ev, at) => sum + (ev ?? 0) * (chances[at] ?? 0), 0);
    return Math.max(best - played / total, 0);
  });
}

function valuesOf(shown: Values): readonly (number | null)[] {
  const { grid, mode, actions } = shown;
  switch (mode) {
    case "ev":
      return actionOf(shown)?.evs ?? grid.ev;
    case "loss":
      return lossesOf(actions, actionOf(shown));
    case "equity":
      return grid.equity;
    case "eqr":
      return grid.eqr;
    case "difference":
      return shown.beside?.cells ?? [];
    default:
      return grid.reach;
  }
}

const inPercent = (value: number): string => fixed(100 * value, 0);

/** How numbers become colours; null where the mode shows no numbers. */
export function scaleOf(shown: Values): Scale | null {
  const { grid, mode } = shown;
  if (mode === "strategy") return null;
  if (mode === "equity") return { low: 0, high: 1, text: inPercent, colour: heatColour };
  // 1 is the value of equity alone, so it is in the middle.
  if (mode === "eqr") return { low: 0, high: 2, text: inPercent, colour: heatColour };
  if (mode === "difference") return { low: 0, high: 1, text: inPercent, colour: amountColour };
  const held = valuesOf(shown).filter(
    (value, place): value is number => value !== null && (grid.reach[place] ?? 0) > 0,
  );
  if (mode === "reach") {
    return { low: 0, high: Math.max(...held, 1e-12), text: inPercent, colour: amountColour };
  }
  const [low, high] = held.length ? [Math.min(...held), Math.max(...held)] : [0, 0];
  if (mode === "loss") {
    const text = (value: number): string => fixed(value, high < 0.1 ? 3 : digitsFor(high));
    return { low: 0, high, text, colour: (share) => heatColour(high > 0 ? 1 - share : 1) };
  }
  const digits = digitsFor(Math.max(Math.abs(low), Math.abs(high)));
  return { low, high, text: (value) => fixed(value, digits), colour: heatColour };
}

/** The number of digits after the point for three or four digits in all. */
export function digitsFor(largest: number): number {
  if (largest >= 100) return 0;
  return largest >= 10 ? 1 : 2;
}

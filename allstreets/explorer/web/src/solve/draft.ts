// A spot as it is being written: numbers are texts until they are asked for, since half of a number
// is none. What a spot may be the server decides; here only numbers are read.

import type { Schemas } from "../api/client";
import { splitCards } from "../common/cards";
import { filledBefore, sharingOf, type Sharing, type Sizes } from "./sizes";

export type SpotForm = Schemas["SpotForm"];
export type Problem = Schemas["Problem"];
export type Precision = SpotForm["precision"];
export type RiverGroups = SpotForm["river_groups"];

/** The fields that hold one number each, as texts. */
export interface NumberTexts {
  pot: string;
  stack: string;
  chips_per_bb: string; // empty: not known
  max_raises: string; // of a street; empty: until all-in
  target_pct: string;
  max_seconds: string; // with a unit: "90", "5m", "1h"; empty: no limit
  rake: string; // per cent
  rake_cap: string; // chips; empty: none
  add_allin_threshold: string;
  force_allin_threshold: string;
  merging_threshold: string;
}

export interface Draft extends NumberTexts {
  name: string;
  board: string;
  oop_range: string;
  ip_range: string;
  sizes: Sizes;
  edits: string; // of single nodes, a line each
  sharing: Sharing;
  precision: Precision;
  river_groups: RiverGroups;
  device: string; // of the server's choices
}

type Read = number | null | undefined; // undefined: it cannot be read

function number(text: string): Read {
  const clean = text.trim().replace(/%$/, "").trim();
  return /^\d*\.?\d+$|^\d+\.$/.test(clean) ? Number(clean) : undefined;
}

function chips(text: string): Read {
  const clean = text.trim().replace(/[,\s](?=\d{3}\b)/g, "");
  return /^\d+(\.\d{1,2})?$/.test(clean) ? Number(clean) : undefined;
}

function amount(text: string): Read {
  return chips(text) || undefined; // no pot is 0
}

function whole(text: string): Read {
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

function orNone(read: (text: string) => Read): (text: string) => Read {
  return (text) => (text.trim() === "" ? null : read(text));
}

function orZero(text: string): Read {
  return text.trim() === "" ? 0 : number(text);
}

const SECONDS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, min: 60, h: 3600 };

function time(text: string): Read {
  const match = /^(\d*\.?\d+)\s*(s|min|m|h)?$/.exec(text.trim().toLowerCase());
  return match ? Number(match[1]) * (SECONDS[match[2] ?? ""] ?? 1) : undefined;
}

function share(text: string): Read {
  const value = orZero(text);
  // Per cent of decimal texts: 0.07 * 100 and back must not leave a trace of binary fractions.
  return typeof value === "number" ? Number((value / 100).toPrecision(12)) : value;
}

const CHIPS = "write chips, such as 100 or 5.5";
const POTS = "write a share of the pot, such as 0.1";

const READERS: Record<keyof NumberTexts, { read: (text: string) => Read; advice: string }> = {
  pot: { read: amount, advice: `Pot: ${CHIPS}` },
  stack: { read: chips, advice: `Stack: ${CHIPS}` },
  chips_per_bb: { read: orNone(chips), advice: `Big blind: ${CHIPS}` },
  max_raises: { read: orNone(whole), advice: "Raises per street: write a count, such as 2" },
  target_pct: { read: number, advice: "Target: write per cent of the pot, such as 0.3" },
  max_seconds: { read: orNone(time), advice: "Time limit: write 90, 5m or 1h" },
  rake: { read: share, advice: "Rake: write per cent, such as 5" },
  rake_cap: { read: orNone(number), advice: "Rake cap: write chips, such as 300" },
  add_allin_threshold: { read: orZero, advice: `Add all-in: ${POTS}` },
  force_allin_threshold: { read: orZero, advice: `Force all-in: ${POTS}` },
  merging_threshold: { read: orZero, advice: `Merge sizes: ${POTS}` },
};

const NUMBER_FIELDS = Object.keys(READERS) as (keyof NumberTexts)[];

/** The form that is sent; null where a number cannot be read, and what is wrong. */
export function formOf(draft: Draft): { form: SpotForm | null; problems: Problem[] } {
  const numbers: Partial<Record<keyof NumberTexts, number | null>> = {};
  const problems: Problem[] = [];
  for (const field of NUMBER_FIELDS) {
    const { read, advice } = READERS[field];
    const value = read(draft[field]);
    if (value === undefined) problems.push({ field, message: advice, hints: [] });
    else numbers[field] = value;
  }
  if (problems.length > 0) return { form: null, problems };
  const { name, board, oop_range, ip_range, sizes, edits, precision } = draft;
  const { river_groups, device } = draft;
  const spot = { name, board, oop_range, ip_range, sizes, edits };
  const texts = { ...spot, precision, river_groups, device };
  return { form: { ...texts, ...numbers } as SpotForm, problems };
}

function textOf(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

function timeText(seconds: number | null | undefined): string {
  if (!seconds) return "";
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : String(seconds);
}

/** A form to write on. */
export function draftOf(form: SpotForm): Draft {
  const { length: cards } = splitCards(form.board);
  const sizes = filledBefore(form.sizes, cards);
  return {
    name: form.name,
    board: form.board,
    oop_range: form.oop_range,
    ip_range: form.ip_range,
    sizes,
    edits: form.edits,
    sharing: sharingOf(sizes, cards),
    precision: form.precision,
    river_groups: form.river_groups,
    device: form.device,
    pot: textOf(form.pot),
    stack: textOf(form.stack),
    chips_per_bb: textOf(form.chips_per_bb),
    max_raises: textOf(form.max_raises),
    target_pct: textOf(form.target_pct),
    max_seconds: timeText(form.max_seconds),
    rake: textOf(Number((100 * form.rake).toPrecision(12))),
    rake_cap: textOf(form.rake_cap),
    add_allin_threshold: textOf(form.add_allin_threshold),
    force_allin_threshold: textOf(form.force_allin_threshold),
    merging_threshold: textOf(form.merging_threshold),
  };
}

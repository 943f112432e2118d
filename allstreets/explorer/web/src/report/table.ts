// Tables over cards and flops: columns, order, filters, means.

import type { Schemas } from "../api/client";
import { DECK, splitCards } from "../common/cards";
import { actionColour } from "../common/colours";
import { DASH, fixed, often, percent } from "../common/format";
import { digitsFor } from "../grid/cells";
import { eqr } from "./eqr";

export type Choice = Schemas["Choice"];
export type CardReport = Schemas["CardReport"];
export type CardRow = Schemas["CardRow"];
export type FlopRow = Schemas["FlopRow"];
export type Row = CardRow | FlopRow;

export interface Column {
  key: string;
  label: string;
  title: string;
  value: (row: Row) => Value;
  text: (value: number) => string;
  colour?: string;
  mean?: boolean; // a mean over rows says something
}

/** The cards of a row: "7h", "AsKh7d". */
export function cardsOf(row: Row): string {
  return "card" in row ? row.card : row.flop;
}

/** The solution that a row leads into: of a set of spots another one. */
export function solutionOf(row: Row, here: string): string {
  return ("solution" in row ? row.solution : null) ?? here;
}

/** A report over cards with one more of its parts. */
export function withPart(report: CardReport | null, part: CardReport): CardReport {
  return { ...part, rows: [...(report?.rows ?? []), ...part.rows] };
}

/** Cards in the order of the deck, as a number. */
export function cardsOrder(text: string): number {
  return splitCards(text).reduce((order, card) => DECK.length * order + DECK.indexOf(card), 0);
}

function word(
  key: "suits" | "pairing" | "connectedness" | "high_card",
  label: string,
): Column {
  return {
    key,
    label,
    title: label,
    value: (row) => ("flop" in row ? row[key] : null),
    text: String,
  };
}

/** The columns of a report with any values. */
export function columnsOf(
  report: {
    actions: readonly Choice[];
    unit: string;
    rows: readonly Row[];
    pot?: number;
    paid?: Readonly<Record<string, number>>;
  },
  seats: Readonly<Record<string, string>>,
): Column[] {
  const largest = Math.max(
    ...report.rows.map((row) => Math.abs(row.ev_oop ?? 0)),
    ...report.rows.map((row) => Math.abs(row.ev_ip ?? 0)),
  );
  const ev = (value: number): string => fixed(value, digitsFor(largest) + 1);
  const tenths = (value: number): string => percent(value);
  const [oop, ip] = [seats["oop"] ?? "OOP", seats["ip"] ?? "IP"];
  const all: Column[] = [
    word("suits", "Suits"),
    word("pairing", "Pairing"),
    word("connectedness", "Connected"),
    word("high_card", "High"),
    {
      key: "share",
      label: "Gets here",
      title: "How often play gets there",
      value: (row) => row.share,
      text: (value) => often(value, 2),
    },
    ...report.actions.map((action, at): Column => ({
      key: `action ${action.word}`,
      label: action.short,
      title: `How often: ${action.label}`,
      value: (row) => row.frequencies[at] ?? null,
      text: tenths,
      colour: actionColour(action),
      mean: true,
    })),
    figure("equity_oop", `Equity ${oop}`, tenths),
    figure("equity_ip", `Equity ${ip}`, tenths),
    figure("ev_oop", `EV ${oop}`, ev, report.unit),
    figure("ev_ip", `EV ${ip}`, ev, report.unit),
    realised("oop", oop, report),
    realised("ip", ip, report),
    {
      key: "exploitability",
      label: "Exploit. %",
      title: "Exploitability in % of the pot",
      value: (row) => ("flop" in row ? row.exploitability_pct : null),
      text: (value) => fixed(value, 3),
      mean: true,
    },
  ];
  return all.filter((column) => report.rows.some((row) => column.value(row) !== null));
}

function figure(
  key: "equity_oop" | "equity_ip" | "ev_oop" | "ev_ip",
  label: string,
  text: (value: number) => string,
  unit = "",
): Column {
  return {
    key,
    label,
    title: unit ? `${label} in ${unit}` : label,
    value: (row) => row[key],
    text,
    mean: true,
  };
}

/** The share of its equity that a range realises. Its mean over rows is not a mean of quotients. */
function realised(
  player: "oop" | "ip",
  seat: string,
  report: { pot?: number; paid?: Readonly<Record<string, number>> },
): Column {
  return {
    key: `eqr_${player}`,
    label: `EQR ${seat}`,
    title: `EV of ${seat} divided by equity times pot`,
    value: (row) => eqr(row, player, report.pot ?? 0, report.paid ?? {}),
    text: (value) => percent(value, 0),
  };
}

/** Whether a column holds words, not numbers. */
export function isWord(column: Column, rows: readonly Row[]): boolean {
  return rows[0] !== undefined && typeof column.value(rows[0]) === "string";
}

/** The text of a cell. */
export function shownValue(column: Column, row: Row): string {
  const value = column.value(row);
  if (value === null) return DASH;
  return typeof value === "number" ? column.text(value) : value;
}

export interface Order {
  key: string; // of a column; "cards": the order of the deck
  down: boolean; // the largest first
}

type Value = number | string | null;

/** Rows by a value; those without one come last in either direction. */
export function ordered<R>(rows: readonly R[], value: (row: R) => Value, down: boolean): R[] {
  const sign = down ? -1 : 1;
  return rows
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) {
        return Number(a.value === null) - Number(b.value === null);
      }
      return sign * compare(a.value, b.value);
    })
    .map(({ row }) => row);
}

/** Rows by one of their columns, or in the order of the deck. */
export function sorted<R extends Row>(
  rows: readonly R[],
  columns: readonly Column[],
  order: Order,
): R[] {
  const column = columns.find((one) => one.key === order.key);
  return ordered(rows, column?.value ?? ((row) => cardsOrder(cardsOf(row))), order.down);
}

function compare(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b));
}

/** The mean of a column over rows, by how often their cards are dealt; null where none is known. */
export function weightedMean(rows: readonly Row[], column: Column): number | null {
  let [sum, weights] = [0, 0];
  for (const row of rows) {
    const value = column.value(row);
    if (typeof value !== "number") continue;
    sum += row.weight * value;
    weights += row.weight;
  }
  return weights > 0 ? sum / weights : null;
}

/** The rows in view, of many of one height, with some to spare; `to` is not among them. */
export function inView(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
): { from: number; to: number } {
  const spare = 8;
  const from = Math.max(0, Math.min(Math.floor(top / rowHeight), count) - spare);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  return { from, to: Math.max(from, to) };
}

import { describe, expect, it } from "vitest";
import { ANY, filtered, matches, optionsOf } from "./filter";
import {
  cardsOrder,
  columnsOf,
  inView,
  isWord,
  shownValue,
  sorted,
  weightedMean,
  type CardRow,
  type Column,
  type FlopRow,
} from "./table";

function flop(name: string, weight: number, part: Partial<FlopRow> = {}): FlopRow {
  return {
    line: name,
    weight,
    share: null,
    frequencies: [0.5, 0.5],
    ev_oop: 1,
    ev_ip: 2,
    equity_oop: 0.4,
    equity_ip: 0.6,
    flop: name,
    suits: "rainbow",
    pairing: "unpaired",
    connectedness: "connected",
    high_card: name.slice(0, 1),
    exploitability_pct: null,
    solution: null,
    ...part,
  };
}

function card(name: string, ev: number | null): CardRow {
  return {
    line: name,
    weight: 1,
    share: null,
    frequencies: [0.5, 0.5],
    ev_oop: ev,
    ev_ip: 2,
    equity_oop: 0.4,
    equity_ip: 0.6,
    card: name,
    same_as: null,
  };
}

const ROWS = [
  flop("AsKh7d", 24, { frequencies: [0.25, 0.75], suits: "rainbow" }),
  flop("AsAh7d", 12, { frequencies: [1, 0], pairing: "paired", ev_oop: null }),
  flop("7s6s2s", 4, { frequencies: [0, 1], suits: "monotone", ev_oop: -3 }),
];
const ACTIONS = ["x", "b50"].map((word) => ({
  word,
  label: word,
  short: word,
  tone: "call" as const,
  shade: 0,
  line: word,
  frequency: null,
}));
const COLUMNS = columnsOf({ actions: ACTIONS, unit: "bb", rows: ROWS }, { oop: "BB", ip: "SB" });

function column(key: string): Column {
  const found = COLUMNS.find((one) => one.key === key);
  if (!found) throw new Error(key);
  return found;
}
const flops = (rows: readonly FlopRow[]) => rows.map((row) => row.flop);

describe("columns", () => {
  it("are those that hold anything", () => {
    expect(COLUMNS.map((one) => one.key)).not.toContain("share");
    expect(COLUMNS.map((one) => one.key)).not.toContain("exploitability");
    expect(column("ev_ip").label).toBe("EV SB");
    const cards = columnsOf({ actions: [], unit: "chips", rows: [card("7h", 1)] }, {});
    expect(cards.map((one) => one.key)).toEqual(["equity_oop", "equity_ip", "ev_oop", "ev_ip"]);
  });
});

describe("cells", () => {
  it("say words and numbers, and a dash where there is nothing", () => {
    const shown = (key: string) => ROWS.map((row) => shownValue(column(key), row));
    expect(shown("suits")).toEqual(["rainbow", "rainbow", "monotone"]);
    expect(shown("action x")).toEqual(["25.0 %", "100.0 %", "0.0 %"]);
    expect(shown("ev_oop")).toEqual(["1.000", "–", "−3.000"]);
    expect(isWord(column("suits"), ROWS)).toBe(true);
    expect(isWord(column("ev_ip"), ROWS)).toBe(false);
  });
});

describe("order", () => {
  it("is that of the deck, from the ace down", () => {
    expect(flops(sorted(ROWS, COLUMNS, { key: "cards", down: false }))).toEqual([
      "AsAh7d",
      "AsKh7d",
      "7s6s2s",
    ]);
    expect(cardsOrder("As")).toBeLessThan(cardsOrder("Ah"));
    expect(cardsOrder("Ac")).toBeLessThan(cardsOrder("Ks"));
  });

  it("is that of any column, both ways, the unknown last", () => {
    expect(flops(sorted(ROWS, COLUMNS, { key: "ev_oop", down: false }))).toEqual([
      "7s6s2s",
      "AsKh7d",
      "AsAh7d",
    ]);
    expect(flops(sorted(ROWS, COLUMNS, { key: "ev_oop", down: true }))).toEqual([
      "AsKh7d",
      "7s6s2s",
      "AsAh7d",
    ]);
    expect(flops(sorted(ROWS, COLUMNS, { key: "action b50", down: true }))[0]).toBe("7s6s2s");
    expect(flops(sorted(ROWS, COLUMNS, { key: "suits", down: false }))[0]).toBe("7s6s2s");
  });

  it("leaves the rows that it was given alone", () => {
    const before = [...ROWS];
    sorted(ROWS, COLUMNS, { key: "ev_oop", down: true });
    expect(ROWS).toEqual(before);
  });
});

describe("means", () => {
  it("weigh flops by how often they are dealt", () => {
    expect(weightedMean(ROWS, column("action x"))).toBeCloseTo((24 * 0.25 + 12) / 40, 12);
  });

  it("leave out what is not known", () => {
    expect(weightedMean(ROWS, column("ev_oop"))).toBeCloseTo((24 - 12) / 28, 12);
    expect(weightedMean(ROWS.slice(1, 2), column("ev_oop"))).toBeNull();
    expect(weightedMean([], column("ev_ip"))).toBeNull();
  });
});

describe("filters", () => {
  it("take what fits all of them", () => {
    expect(filtered(ROWS, ANY)).toHaveLength(3);
    expect(flops(filtered(ROWS, { ...ANY, suits: "rainbow", pairing: "unpaired" }))).toEqual([
      "AsKh7d",
    ]);
    expect(flops(filtered(ROWS, { ...ANY, high_card: "A", text: "a7" }))).toEqual(["AsAh7d"]);
    expect(optionsOf(ROWS, "suits")).toEqual(["rainbow", "monotone"]);
  });

  it.each([
    ["", true],
    ["AsKh7d", true],
    ["7d as", true],
    ["ak7", true],
    ["K7", true],
    ["Ad", false],
    ["A7", false],
    ["72", false],
  ])("find AsKh7d by '%s': %s", (text, found) => {
    expect(matches("AsKh7d", text)).toBe(found);
  });
});

describe("rows in view", () => {
  it("are few, and all at the edges", () => {
    expect(inView(0, 300, 30, 1755)).toEqual({ from: 0, to: 18 });
    expect(inView(3000, 300, 30, 1755)).toEqual({ from: 92, to: 118 });
    expect(inView(52_350, 300, 30, 1755)).toEqual({ from: 1737, to: 1755 });
    expect(inView(0, 300, 30, 3)).toEqual({ from: 0, to: 3 });
    expect(inView(50_000, 300, 30, 3)).toEqual({ from: 0, to: 3 });
  });
});

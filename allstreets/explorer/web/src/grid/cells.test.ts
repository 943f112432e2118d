import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { GRID_HANDS } from "../common/cards";
import { cellsOf, codesOf, digitsFor, lockedWords, scaleOf, type Shown } from "./cells";

// The order of the server is not that of the grid: hands must be found by name.
const HANDS = [...GRID_HANDS].reverse();

function list<T>(usual: T, special: Record<string, T>): T[] {
  return HANDS.map((hand) => special[hand] ?? usual);
}

function action(word: string, tone: "fold" | "call" | "aggressive", chances: (number | null)[]) {
  return {
    word,
    label: word,
    short: word,
    tone,
    shade: tone === "aggressive" ? 1 : 0,
    line: word,
    frequency: null,
    ev: null,
    ev_range: null,
    known: true,
    combos: 0,
    chances,
    evs: chances,
  } satisfies Schemas["ActionFigures"];
}

const GRID: Schemas["PlayerGrid"] = {
  combos: list(6, {}),
  reach: list(0, { AA: 0.5, AKs: 0.25, "72o": 0.001, "73o": 1e-6 }),
  ev: list<number | null>(null, { AA: 12.34, AKs: -3 }),
  equity: list<number | null>(null, { AA: 0.85, AKs: 0.5 }),
  eqr: list<number | null>(null, { AA: 1.5, AKs: 1 }),
  summary: { combos: 4, ev: 1, equity: 0.5, eqr: 1 },
};
const ACTIONS = [
  action("f", "fold", list<number | null>(null, { AA: 0, AKs: 0.75 })),
  action("r3", "aggressive", list<number | null>(null, { AA: 1, AKs: 0.25 })),
];
const SHOWN: Shown = {
  hands: HANDS,
  grid: GRID,
  actions: ACTIONS,
  locked: [],
  learned: true,
  mode: "strategy",
  player: "oop",
  action: null,
};

function cell(hand: string, shown: Shown = SHOWN) {
  const found = cellsOf(shown).find((one) => one.hand === hand);
  if (!found) throw new Error(hand);
  return found;
}

describe("cells of a strategy", () => {
  it("lie row by row as in the grid", () => {
    expect(cellsOf(SHOWN).map((one) => one.hand)).toEqual(GRID_HANDS);
  });

  it("are split by frequency, the fold at the left", () => {
    expect(cell("AA").background).toBe("linear-gradient(90deg, var(--raise-high) 0% 100%)");
    expect(cell("AKs").background).toBe(
      "linear-gradient(90deg, var(--fold) 0% 75%, var(--raise-high) 75% 100%)",
    );
    expect(cell("AKs")).toMatchObject({ code: "f", text: "75" });
    expect(cell("AA")).toMatchObject({ code: "r", text: "100" });
    expect(cell("AKs").label).toBe("AKs: f 75 %, r3 25 %; reach 25.0 %");
  });

  it("are as high as the hand gets here, against the one that gets here most", () => {
    expect(cell("AA").height).toBe(1);
    expect(cell("AKs").height).toBe(0.5);
    expect([cell("AA").ink, cell("AKs").ink]).toEqual(["strong", "strong"]);
    expect(cell("72o").height).toBeGreaterThan(0.05);
    expect(cell("72o").height).toBeLessThan(0.2);
  });

  it("can be filled, however seldom a hand gets here, where there is something to be seen", () => {
    const full = { ...SHOWN, full: true };
    expect([cell("AKs", full).height, cell("72o", full).height]).toEqual([1, 1]);
    expect(cell("22", full)).toMatchObject({ reached: false, height: 0 });
    expect(cell("AKs", { ...full, actions: [] }).height).toBe(0.5); // reach is all that it shows
  });

  it("are empty where the hand does not get here", () => {
    expect(cell("22")).toMatchObject({ reached: false, height: 0, background: "none" });
    expect(cell("73o")).toMatchObject({ reached: false, label: "73o: hardly ever here" });
  });

  it("say what was given, and where nothing was learned", () => {
    const locked = list(0, { AA: 1, AKs: 0.5, "22": 1 });
    expect(cell("AA", { ...SHOWN, locked })).toMatchObject({ locked: true });
    expect(cell("AA", { ...SHOWN, locked }).label).toBe("AA: f 0 %, r3 100 %; reach 50.0 %; locked");
    expect(cell("22", { ...SHOWN, locked }).locked).toBe(false);
    expect(cell("AA", { ...SHOWN, learned: false }).label).toContain("not reached");
    expect(lockedWords(locked, GRID, "OOP")).toContain("given for 2 of 4 hands");
    expect(lockedWords(list(1, {}), GRID, "OOP")).toContain("given for all hands");
    expect(lockedWords(list(0, {}), GRID, "OOP")).toBe("");
  });

  it("show the reach of a player who does not act", () => {
    expect(cell("AA", { ...SHOWN, actions: [] })).toMatchObject({ code: "", text: "" });
    expect(cell("AA", { ...SHOWN, actions: [] }).background).toContain("var(--oop-cell)");
  });
});

describe("cells of numbers", () => {
  it("are filled, however seldom the hand gets here", () => {
    expect(cell("AKs", { ...SHOWN, mode: "equity" })).toMatchObject({ height: 1, ink: "pale" });
    expect(cell("22", { ...SHOWN, mode: "equity" })).toMatchObject({ reached: false, height: 0 });
  });

  it("carry the number", () => {
    expect(cell("AA", { ...SHOWN, mode: "ev" }).text).toBe("12.3");
    expect(cell("AKs", { ...SHOWN, mode: "ev" }).text).toBe("−3.0");
    expect(cell("AA", { ...SHOWN, mode: "equity" }).text).toBe("85");
    expect(cell("AKs", { ...SHOWN, mode: "eqr" }).text).toBe("100");
    expect(cell("AA", { ...SHOWN, mode: "reach" }).text).toBe("50");
    expect(cell("72o", { ...SHOWN, mode: "ev" }).text).toBe("–");
  });

  it("are coloured from the worst to the best", () => {
    expect(cell("AA", { ...SHOWN, mode: "ev" }).background).toContain("var(--value-high) 0%");
    expect(cell("AKs", { ...SHOWN, mode: "ev" }).background).toContain("var(--value-low) 0%");
    expect(cell("AKs", { ...SHOWN, mode: "eqr" }).background).toContain("var(--value-mid) 0%");
  });

  it("know their scale", () => {
    expect(scaleOf(SHOWN)).toBeNull();
    expect(scaleOf({ ...SHOWN, mode: "ev" })).toMatchObject({ low: -3, high: 12.34 });
    const nobody = { ...GRID, reach: list(0, {}) };
    expect(scaleOf({ ...SHOWN, grid: nobody, mode: "ev" })).toMatchObject({ low: 0, high: 0 });
    expect([digitsFor(250), digitsFor(25), digitsFor(2.5)]).toEqual([0, 1, 2]);
  });
});

describe("EVs of actions", () => {
  const [fold, raise] = ACTIONS.map((one) => ({
    ...one,
    evs: list<number | null>(null, one.word === "f" ? { AA: 0, AKs: 0 } : { AA: 5, AKs: -2 }),
  }));
  const priced = { ...SHOWN, actions: fold && raise ? [fold, raise] : [] };

  it("are shown for one action, or for all as they are played", () => {
    expect(cell("AKs", { ...priced, mode: "ev", action: "r3" }).text).toBe("−2.00");
    expect(cell("AKs", { ...priced, mode: "ev", action: "r3" }).label).toBe("AKs: EV of r3 −2.00");
    expect(cell("AKs", { ...priced, mode: "ev", action: "gone" }).text).toBe("−3.0");
  });

  it("say what is given away against the best one", () => {
    const loss = (hand: string, action: string | null) =>
      cell(hand, { ...priced, mode: "loss", action }).text;
    expect([loss("AA", "f"), loss("AA", "r3"), loss("AA", null)]).toEqual(["5.00", "0.00", "0.00"]);
    expect([loss("AKs", "f"), loss("AKs", "r3")]).toEqual(["0.00", "2.00"]);
    expect(loss("AKs", null)).toBe("0.50"); // a raise, one time in four
    expect(loss("72o", null)).toBe("–");
    expect(cell("AA", { ...priced, actions: [], mode: "loss" }).text).toBe("–");
    const background = cell("AA", { ...priced, mode: "loss", action: "f" }).background;
    expect(background).toContain("var(--value-low)");
  });
});

describe("cells beside another solution", () => {
  const beside = {
    name: "older",
    cells: list<number | null>(null, { AA: 0, AKs: 0.5 }),
    actions: [
      { label: "f", chances: list<number | null>(null, { AA: 0, AKs: 0.25 }) },
      { label: "r3", chances: list<number | null>(null, { AA: 1, AKs: 0.75 }) },
    ],
  };
  const shown: Shown = { ...SHOWN, mode: "difference", beside };

  it("say how often a hand acts differently, and what both do", () => {
    expect(cell("AKs", shown)).toMatchObject({ text: "50", ink: "strong", height: 1 });
    expect(cell("AKs", shown).label).toBe(
      "AKs: acts differently 50.0 % of the time; here: f 75 %, r3 25 %; older: f 25 %, r3 75 %",
    );
    expect(cell("AA", shown).text).toBe("0");
    expect(cell("AA", shown).background).toContain("var(--rest-cell)");
    expect(scaleOf(shown)).toMatchObject({ low: 0, high: 1 });
  });

  it("are empty where a hand is not in both, or nothing lies beside", () => {
    expect(cell("72o", shown)).toMatchObject({ text: "–", label: "72o: not in both solutions" });
    expect(cell("AA", { ...shown, beside: null }).text).toBe("–");
  });
});

describe("codes of actions", () => {
  it("are a letter where a size would run into the frequency", () => {
    const half = list<number | null>(null, { AA: 0, AKs: 0.43 });
    const all = list<number | null>(null, { AA: 1, AKs: 0.57 });
    const code = (short: string, hand: string): string =>
      cell(hand, {
        ...SHOWN,
        actions: [
          { ...action("r1", "aggressive", half), short: "Raise 50%" },
          { ...action("r2", "aggressive", all), short },
        ],
      }).code;
    expect(code("Raise 100%", "AA")).toBe("R"); // beside 100
    expect(code("Raise 100%", "AKs")).toBe("R"); // beside 57
    expect(code("Raise 75%", "AKs")).toBe("R75");
  });
  it("tell them apart in a letter or two", () => {
    const codes = (...shorts: string[]) => codesOf(shorts.map((short) => ({ short })));
    expect(codes("Fold", "Call 2", "Raise 6", "All-in 20")).toEqual(["F", "C", "R", "A"]);
    expect(codes("Check", "Bet 33%", "Bet 125%")).toEqual(["X", "B33", "B125"]);
    expect(codes("Fold", "Limp", "Raise 2.5")).toEqual(["F", "L", "R"]);
  });
});

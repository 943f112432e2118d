import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { commandOf, distance, notesOf, openedAt, stepBeside, verdict, type Decision, type Hand } from "./replay";
import { ANY, barsOf, beside, filtered, gradersOf, handsOf, missing, namesOf, type Row } from "./table";

function row(hand: string, part: Partial<Row>): Row {
  return {
    hand,
    name: hand,
    place: 0,
    street: "preflop",
    pot: "raised",
    seat: "SB",
    cards: ["As", "Kd"],
    line: "",
    did: "fold",
    action: "fold",
    frequency: 0,
    better: "",
    loss: 1,
    within: null,
    note: "",
    ...part,
  };
}

const ROWS = [
  row("b", { loss: 2, street: "river" }),
  row("a", { loss: 1 }),
  row("b", { loss: 0.1, pot: "limped", action: "call" }),
  row("c", { loss: null }),
];

function total(by: string, name: string, loss: number): Schemas["ReviewTotal"] {
  return { by, name, hands: 1, decisions: 1, judged: 1, loss, loss_per_100: 100 * loss };
}

describe("the decisions of a review", () => {
  it("are filtered by what they are and by what they cost", () => {
    expect(filtered(ROWS, ANY)).toEqual(ROWS);
    expect(filtered(ROWS, { ...ANY, street: "river" })).toEqual([ROWS[0]]);
    expect(filtered(ROWS, { ...ANY, pot: "raised", action: "fold" }).length).toBe(3);
    expect(filtered(ROWS, { ...ANY, least: 1 })).toEqual(ROWS.slice(0, 2));
  });
  it("lead to their hands, each once", () => {
    const hands = handsOf(ROWS);
    expect(hands).toEqual(["b", "a", "c"]);
    expect(beside(hands, "b", 1)).toBe("a");
    expect(beside(hands, "b", -1)).toBeNull();
    expect(beside(hands, "c", 1)).toBeNull();
    expect(beside(hands, "gone", 1)).toBe("b");
  });
  it("are drawn against the largest of all kinds", () => {
    const totals = [total("all", "all", 4), total("street", "river", 1), total("pot", "limped", 2)];
    expect(barsOf(totals, "street").map((bar) => [bar.name, bar.share])).toEqual([["river", 0.5]]);
    expect(namesOf(totals, "pot")).toEqual(["limped"]);
  });
});

describe("what is missing", () => {
  it("is told with where the first of a kind stands", () => {
    expect(missing({ reason: "3 players", count: 1200, place: "a.txt, line 7" })).toBe(
      "1,200 × 3 players (a.txt, line 7)",
    );
    expect(missing({ reason: "not solved", count: 2, place: "" })).toBe("2 × not solved");
  });
});

function decision(place: number, loss: number | null, note = ""): Decision {
  return {
    place,
    line: "",
    to_call: 0,
    taken: "x",
    counted_as: "x",
    best: "b3",
    loss,
    within: 0.02,
    note,
    judged_by: "",
    options: [
      { word: "x", label: "check", short: "Check", tone: "call", shade: 0, frequency: 0.25, ev: 1, chances: [], evs: [] },
    ],
    reach: [],
    ev: [],
  };
}

const HAND = {
  steps: Array(6).fill(null),
  decisions: [decision(1, 0.1), decision(4, 0.5), decision(5, null, "not solved: no time")],
  solution: "game",
  solution_stack: 20,
  stack: 16,
} as unknown as Hand;

describe("a replayed hand", () => {
  it("opens at its costliest decision, or where the address says", () => {
    expect(openedAt(HAND, null)).toBe(4);
    expect(openedAt(HAND, 2)).toBe(2);
    expect(openedAt(HAND, 99)).toBe(4);
  });
  it("goes from decision to decision, and to its end", () => {
    expect([stepBeside(HAND, 1, 1), stepBeside(HAND, 4, 1), stepBeside(HAND, 5, 1)]).toEqual([4, 5, 6]);
    expect(stepBeside(HAND, 6, 1)).toBeNull();
    expect([stepBeside(HAND, 6, -1), stepBeside(HAND, 3, -1)]).toEqual([5, 1]);
    expect(stepBeside(HAND, 1, -1)).toBeNull();
  });
  it("says what a decision cost, or why nobody knows", () => {
    const [cheap, dear, unknown] = HAND.decisions as [Decision, Decision, Decision];
    expect(verdict(dear)).toBe("0.500 bb lost; the solution does this 25 % of the time");
    expect(verdict({ ...cheap, loss: 0 })).toBe("nothing lost; the solution does this 25 % of the time");
    expect(verdict(unknown)).toBe("not solved: no time");
    expect(distance(HAND)).toBe("game, 20 bb for 16 bb played: +25 %");
  });
  it("has the notes that nothing else says", () => {
    const [cheap, , unknown] = HAND.decisions as [Decision, Decision, Decision];
    const hand: Hand = { ...HAND, notes: ["played 16 bb deep, graded before the flop at 20 bb (+25 %)", "an ante"] };
    expect(notesOf(hand, { ...cheap, note: "rough" })).toEqual(["rough", "an ante"]);
    expect(notesOf(hand, unknown)).toEqual(["an ante"]);
  });
  it("knows its keys", () => {
    const bare = { ctrlKey: false, metaKey: false, altKey: false };
    expect(commandOf({ key: "ArrowDown", ...bare })).toBe("down");
    expect(commandOf({ key: "ArrowDown", ...bare, ctrlKey: true })).toBeNull();
    expect(commandOf({ key: "x", ...bare })).toBeNull();
  });
});

describe("the solutions that grade a review", () => {
  it("names the first of many", () => {
    expect(gradersOf(["a", "b", "c", "d"])).toBe("a, b, c, d");
    expect(gradersOf(["a", "b", "c", "d", "e"])).toBe("a, b, c and 2 more");
  });
});

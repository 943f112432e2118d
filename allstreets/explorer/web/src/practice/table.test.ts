import { expect, test } from "vitest";
import { seatsOf } from "./table";

const QUESTION = {
  number: 0,
  line: "r2.5",
  street: "preflop",
  board: [],
  cards: ["Ah", "5h"],
  pot: 3.5,
  to_call: 1.5,
  stacks: { oop: 19, ip: 17.5 },
  bets: { oop: 1, ip: 2.5 },
  hint: "",
  actions: [],
} as const;
const STATE = {
  player: "oop",
  seats: { oop: "BB", ip: "SB" },
  question: QUESTION,
} as unknown as Parameters<typeof seatsOf>[0];
const END = { text: "", board: [], theirs: ["Kd", "Kc"], won: 1, draws: [] };
const question = QUESTION as unknown as Parameters<typeof seatsOf>[1];

test("while a hand is played, his cards are face down and the bets in front", () => {
  const { you, them } = seatsOf(STATE, question, null);
  expect(you).toMatchObject({ name: "BB, you", button: false, stack: 19, bet: 1, acts: true });
  expect(you.told).toBe("Your cards: Ah5h");
  expect(them).toMatchObject({ name: "SB", button: true, stack: 17.5, bet: 2.5, acts: false });
  expect(them.cards).toEqual([null, null]);
});

test("who looks at what a decision cost is not asked", () => {
  expect(seatsOf({ ...STATE, question: null }, question, null).you.acts).toBe(false);
});

test("at the end his cards are shown, and nothing is told that is not known", () => {
  const { you, them } = seatsOf({ ...STATE, player: "ip", question: null }, question, END);
  expect([you.button, you.stack, them.stack, them.bet]).toEqual([true, null, null, 0]);
  expect(them.cards).toEqual(["Kd", "Kc"]);
  expect(them.told).toBe("BB had KdKc");
});

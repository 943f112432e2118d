// The seats at the table, and the visible cards.

import type { Schemas } from "../api/client";

type State = Schemas["PracticeState"];
type Question = Schemas["PracticeQuestion"];

export interface Seat {
  name: string; // "SB", "BB", with "you" for the user
  button: boolean;
  stack: number | null; // null: not known any more
  bet: number;
  cards: readonly (string | null)[]; // null: face down
  told: string; // the cards, for people who do not see them
  acts: boolean;
}
export interface Seats {
  you: Seat;
  them: Seat;
}

/** Both seats at a decision, or at the end of a hand: then his cards are shown and bets are in. */
export function seatsOf(state: State, question: Question, end: State["end"]): Seats {
  const mine = state.player;
  const his = mine === "oop" ? "ip" : "oop";
  const over = end !== null;
  const theirs = end?.theirs.length ? end.theirs : [null, null];
  const asked = !over && state.question !== null;
  const seat = (player: "oop" | "ip", own: Partial<Seat>): Seat => ({
    name: state.seats[player] ?? "",
    button: player === "ip",
    stack: over ? null : (question.stacks[player] ?? null),
    bet: over ? 0 : (question.bets[player] ?? 0),
    cards: [],
    told: "",
    acts: false,
    ...own,
  });
  return {
    you: seat(mine, {
      name: `${state.seats[mine]}, you`,
      cards: question.cards,
      told: `Your cards: ${question.cards.join("")}`,
      acts: asked,
    }),
    them: seat(his, {
      cards: theirs,
      told: over ? `${state.seats[his]} had ${theirs.join("")}` : `${state.seats[his]}'s cards, face down`,
    }),
  };
}

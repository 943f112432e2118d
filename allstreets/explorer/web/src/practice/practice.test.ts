import { expect, it } from "vitest";
import { HeldAnswers, heard } from "../common/held-answers";
import { Practice, type Form, type State } from "./practice.svelte";

const ANSWERS = "POST /api/practice/sessions/one/answers";
const HANDS = "POST /api/practice/sessions/one/hands";
const actions = ["f", "c"].map((word) => ({ word }));

function state(number: number | null): State {
  const question = number === null ? null : { number, actions };
  const end = number === null ? { text: "over" } : null;
  return { session: "one", question, end, verdict: {} } as unknown as State;
}

function press(practice: Practice, keys: string): void {
  for (const key of keys.replace("+", "\n")) {
    const pressed = { key: key === "\n" ? "Enter" : key, ctrlKey: false, metaKey: false, altKey: false };
    practice.press(pressed);
  }
}

async function begun(server: HeldAnswers): Promise<Practice> {
  const practice = new Practice();
  void practice.begin({} as Form);
  await server.answer("POST /api/practice/sessions", state(1));
  return practice;
}

it("applies keys in order, also those that come before an answer", async () => {
  const server = new HeldAnswers();
  const practice = await begun(server);
  press(practice, "2+1"); // call, go on, fold: before the first is answered
  expect(practice.busy).toBe(true);
  await server.answer(ANSWERS, state(2));
  expect(server.bodies).toEqual([{ question: 2, action: 0 }]);
  press(practice, "+c"); // next hand, and a call in it
  await server.answer(ANSWERS, state(null));
  await server.answer(HANDS, state(3));
  expect(server.bodies).toEqual([{ question: 3, action: 1 }]);
  await server.answer(ANSWERS, state(4));
  expect([practice.looking, practice.busy]).toEqual([true, false]);
});

it("does nothing twice by a key that is pressed twice", async () => {
  const server = new HeldAnswers();
  const practice = await begun(server);
  press(practice, "22");
  await server.answer(ANSWERS, state(2));
  expect([server.names, practice.looking]).toEqual([[], true]);
});

it("forgets keys that were meant for what was refused", async () => {
  const server = new HeldAnswers();
  const practice = await begun(server);
  press(practice, "2+1q");
  await server.refuse(ANSWERS, "no such session");
  expect([practice.error?.message, practice.busy, practice.finished]).toEqual(["no such session", false, false]);
  expect(server.names).toEqual([]);
});

it("is left for good, whatever is answered then", async () => {
  const server = new HeldAnswers();
  const practice = await begun(server);
  press(practice, "2");
  await heard();
  practice.leave();
  if (server.names.length > 0) await server.answer(ANSWERS, state(2));
  expect([practice.state, practice.busy, practice.looking]).toEqual([null, false, false]);
});

import { expect, it } from "vitest";
import { HeldAnswers, heard } from "../common/held-answers";
import { Setup } from "./setup.svelte";

const topics = (street: string): unknown => ({
  seats: { oop: "BB", ip: "SB" },
  streets: [street],
  pots: [],
  suits: [],
  pairings: [],
  high_cards: [],
  note: "",
});
const asked = (solution: string): string => `GET /api/practice/topics?solution=${solution}`;

it("offers and sends the topics of the chosen solution alone", async () => {
  const server = new HeldAnswers();
  const setup = new Setup();
  setup.choose("game");
  expect([setup.topics, setup.form()]).toEqual([null, null]);
  await server.answer(asked("game"), topics("preflop"));
  expect(setup.topics?.streets).toEqual(["preflop"]);
  setup.streets = ["preflop", "river"];
  expect(setup.form()).toMatchObject({ solution: "game", streets: ["preflop"] });
  setup.choose("spot");
  expect([setup.topics, setup.form()]).toEqual([null, null]);
  await server.answer(asked("spot"), topics("river"));
  expect(setup.form()).toMatchObject({ solution: "spot", streets: ["river"] });
});

it("is not misled by an answer that comes too late", async () => {
  const server = new HeldAnswers();
  const setup = new Setup();
  setup.choose("game");
  setup.choose("spot");
  await heard();
  expect(server.names).toEqual([asked("spot")]);
  setup.choose("game");
  await server.answer(asked("game"), topics("preflop"));
  expect(setup.form()).toMatchObject({ solution: "game" });
});

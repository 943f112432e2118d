import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HeldAnswers } from "../common/held-answers";
import { Trainer } from "./game.svelte";

const ESTIMATE = "POST /api/games/estimate";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

it("shows no estimate of a text that has been changed since", async () => {
  const server = new HeldAnswers();
  const trainer = new Trainer();
  trainer.write("one");
  await vi.advanceTimersByTimeAsync(1000);
  let rest: (estimate: unknown) => void = () => undefined;
  void server.answer(ESTIMATE, new Promise((resolve) => (rest = resolve))); // half of it
  await vi.advanceTimersByTimeAsync(0);
  trainer.write("two");
  rest({ problems: [], name: "one" });
  await vi.advanceTimersByTimeAsync(0);
  expect([trainer.estimate, trainer.asking]).toEqual([null, true]);
  await vi.advanceTimersByTimeAsync(1000);
  void server.answer(ESTIMATE, { problems: [], name: "two" });
  await vi.advanceTimersByTimeAsync(0);
  expect([trainer.estimate, trainer.asking]).toMatchObject([{ name: "two" }, false]);
});

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HeldAnswers } from "../common/held-answers";
import { SpotEditor } from "./form.svelte";
import { FORM } from "./sample-form";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("does not show what is wrong with a spot that has been changed since", async () => {
  const server = new HeldAnswers();
  const editor = new SpotEditor();
  editor.fill({ ...FORM, pot: 11 });
  const sent = editor.start();
  editor.fill(FORM);
  await vi.advanceTimersByTimeAsync(1000);
  void server.answer("POST /api/solves/estimate", { problems: [], memory_bytes: 1 });
  void server.refuse("POST /api/solves", "a pot of 11 is odd");
  await vi.advanceTimersByTimeAsync(0);
  expect(await sent).toBeNull();
  expect([editor.problems, editor.asking]).toEqual([[], false]);
  expect(editor.refusal?.message).toBe("a pot of 11 is odd");
});

it("measures the spot that is there", async () => {
  const server = new HeldAnswers();
  const editor = new SpotEditor();
  editor.fill({ ...FORM, pot: 11 });
  await vi.advanceTimersByTimeAsync(1000);
  let rest: (estimate: unknown) => void = () => undefined;
  void server.answer("POST /api/solves/estimate", new Promise((resolve) => (rest = resolve)));
  await vi.advanceTimersByTimeAsync(0);
  editor.fill(FORM);
  rest({ problems: [], memory_bytes: 11 });
  await vi.advanceTimersByTimeAsync(0);
  expect([editor.estimate, editor.asking]).toEqual([null, true]);
});

import { expect, it } from "vitest";
import { Waiting } from "./waiting.svelte";

it("counts answers until they have come, or never will", async () => {
  const waiting = new Waiting();
  let come: (value: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const first = waiting.for(new Promise<string>((resolve) => (come = resolve)));
  const second = waiting.for(new Promise<string>((_, reject) => (fail = reject)));
  expect(waiting.count).toBe(2);
  come("an answer");
  expect(await first).toBe("an answer");
  expect(waiting.count).toBe(1);
  fail(new Error("refused"));
  await expect(second).rejects.toThrow("refused");
  expect(waiting.count).toBe(0);
});

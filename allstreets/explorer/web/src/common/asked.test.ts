import { describe, expect, it } from "vitest";
import { RefusedError } from "../api/client";
import { Asked } from "./asked.svelte";

/** A question whose answer comes when the test says so. */
function pending<T>(): { promise: Promise<T>; answer: (value: T) => void } {
  let answer: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (answer = resolve));
  return { promise, answer };
}

describe("a question", () => {
  it("keeps the old answer until the new one has come", async () => {
    const asked = new Asked<number>();
    await asked.ask("a", () => Promise.resolve(1));
    const second = pending<number>();
    const done = asked.ask("b", () => second.promise);
    expect(asked.loading).toBe(true);
    expect(asked.value).toBe(1);
    second.answer(2);
    await done;
    expect(asked.value).toBe(2);
    expect(asked.loading).toBe(false);
  });

  it("drops an answer that comes after a newer question", async () => {
    const asked = new Asked<string>();
    const slow = pending<string>();
    const first = asked.ask("slow", () => slow.promise);
    await asked.ask("quick", () => Promise.resolve("new"));
    slow.answer("old");
    await first;
    expect(asked.value).toBe("new");
    expect(asked.loading).toBe(false);
  });

  it("is not asked twice, but again after it was refused", async () => {
    const asked = new Asked<number>();
    let times = 0;
    const question = (): Promise<number> => {
      times += 1;
      return times === 1 ? Promise.reject(new RefusedError(404, "no")) : Promise.resolve(times);
    };
    await asked.ask("a", question);
    expect(asked.error?.message).toBe("no");
    await asked.ask("a", question);
    await asked.ask("a", question);
    expect(times).toBe(2);
    expect(asked.value).toBe(2);
    expect(asked.error).toBeNull();
  });
});

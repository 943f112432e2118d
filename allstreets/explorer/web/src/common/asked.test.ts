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

  it("shows what is known while it is open, unless it was dropped", async () => {
    const asked = new Asked<string>();
    const end = pending<string>();
    let show: (value: string) => void = () => undefined;
    const done = asked.ask("slow", (_, shown) => {
      show = shown;
      return end.promise;
    });
    show("half");
    expect([asked.value, asked.loading]).toEqual(["half", true]);
    await asked.ask("quick", () => Promise.resolve("new"));
    show("more");
    end.answer("whole");
    await done;
    expect([asked.value, asked.loading]).toEqual(["new", false]);
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

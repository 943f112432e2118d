import { describe, expect, it } from "vitest";
import { Queue } from "./queue";

describe("keys that come before their place", () => {
  /** A walk where every step has to be waited for: keys name the choice that they take. */
  function walk() {
    const made = { place: "", loading: false, queue: new Queue<string>(ready, take) };
    function ready(): boolean {
      return !made.loading;
    }
    function take(key: string): void {
      made.place += key;
      made.loading = true;
    }
    const arrive = (): void => {
      made.loading = false;
      made.queue.go();
    };
    return { made, arrive };
  }

  it("act on the new place, in order", () => {
    const { made, arrive } = walk();
    for (const key of "abc") made.queue.push(key);
    expect(made.place).toBe("a");
    arrive();
    expect(made.place).toBe("ab");
    made.queue.push("d");
    arrive();
    arrive();
    expect(made.place).toBe("abcd");
    arrive();
    expect([made.place, made.queue.empty]).toEqual(["abcd", true]);
  });

  it("run at once where nothing has to be waited for", () => {
    const seen: string[] = [];
    const queue = new Queue<string>(
      () => true,
      (key) => seen.push(key),
    );
    queue.push("m");
    queue.push("p");
    expect(seen).toEqual(["m", "p"]);
  });

  it("are forgotten where there is no such place, and never too many", () => {
    const { made, arrive } = walk();
    for (const key of "abc") made.queue.push(key);
    made.queue.clear();
    arrive();
    expect(made.place).toBe("a");
    made.loading = true;
    for (let time = 0; time < 1000; time += 1) made.queue.push("x");
    for (let time = 0; time < 1000; time += 1) arrive();
    expect(made.place).toHaveLength(1 + 30);
  });
});

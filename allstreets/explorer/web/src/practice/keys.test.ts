import { describe, expect, it } from "vitest";
import { commandOf, keysOf } from "./keys";

const WORDS = ["f", "c", "r7.5", "r12"];

function press(key: string, more: object = {}): unknown {
  return commandOf({ key, ctrlKey: false, metaKey: false, altKey: false, ...more }, WORDS);
}

describe("keys of practice", () => {
  it("take actions by number and by letter", () => {
    expect(press("1")).toEqual({ kind: "take", action: 0 });
    expect(press("4")).toEqual({ kind: "take", action: 3 });
    expect(press("C")).toEqual({ kind: "take", action: 1 });
  });
  it("take nothing that is not offered, or that two actions begin with", () => {
    expect(press("5")).toBeNull();
    expect(press("r")).toBeNull();
    expect(press("x")).toBeNull();
    expect(press("7")).toBeNull();
  });
  it("go on and end", () => {
    expect(press("Enter")).toEqual({ kind: "on" });
    expect(press(" ")).toEqual({ kind: "on" });
    expect(press("q")).toEqual({ kind: "finish" });
    expect(press("q", { ctrlKey: true })).toBeNull();
  });
});

it("the keys that are shown are those that work", () => {
  const words = ["f", "c", "r7.5", "r12"];
  const shown = words.map((_, place) => keysOf(place, words));
  expect(shown).toEqual([["1", "f"], ["2", "c"], ["3"], ["4"]]);
  for (const [action, keys] of shown.entries())
    for (const key of keys) {
      const pressed = { key, ctrlKey: false, metaKey: false, altKey: false };
      expect(commandOf(pressed as Parameters<typeof commandOf>[0], words)).toEqual({ kind: "take", action });
    }
  expect(keysOf(9, Array.from({ length: 10 }, (_, at) => `r${at}`))).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { commandOf } from "./keys";

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

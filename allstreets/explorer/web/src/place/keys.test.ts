import { describe, expect, it } from "vitest";
import { commandOf, leads, next, takesKeys } from "./keys";

const NONE = { ctrlKey: false, metaKey: false, altKey: false };

describe("keys", () => {
  it.each([
    ["ArrowLeft", "back"],
    ["ArrowRight", "forward"],
    ["ArrowUp", "up"],
    ["ArrowDown", "down"],
    ["Home", "root"],
    ["m", "mode"],
    ["M", "mode"],
    ["p", "player"],
    ["?", "help"],
    ["Escape", "release"],
  ])("%s: %s", (key, kind) => {
    expect(commandOf({ key, ...NONE })).toEqual({ kind });
  });

  it("take actions by their number", () => {
    expect(commandOf({ key: "1", ...NONE })).toEqual({ kind: "take", action: 0 });
    expect(commandOf({ key: "9", ...NONE })).toEqual({ kind: "take", action: 8 });
    expect(commandOf({ key: "0", ...NONE })).toBeNull();
  });

  it("wait for their place, but for those that lead away from it", () => {
    expect(["ArrowLeft", "Home", "?"].map((key) => commandOf({ key, ...NONE }))).toSatisfy(
      (all: ReturnType<typeof commandOf>[]) => all.every((one) => one !== null && leads(one)),
    );
    expect(leads({ kind: "take", action: 0 })).toBe(false);
    expect(leads({ kind: "enter" })).toBe(false);
  });

  it("leave to the browser what is its own", () => {
    expect(commandOf({ key: "ArrowLeft", ...NONE, altKey: true })).toBeNull();
    expect(commandOf({ key: "p", ...NONE, ctrlKey: true })).toBeNull();
    expect(commandOf({ key: "Tab", ...NONE })).toBeNull();
    expect(commandOf({ key: "constructor", ...NONE })).toBeNull();
  });

  it("stay with fields that somebody types in", () => {
    expect(takesKeys({ tagName: "INPUT", type: "text" })).toBe(true);
    expect(takesKeys({ tagName: "SELECT" })).toBe(true);
    expect(takesKeys({ tagName: "INPUT", type: "checkbox" })).toBe(false);
    expect(takesKeys({ tagName: "BUTTON" })).toBe(false);
    expect(takesKeys({ tagName: "DIV", isContentEditable: true })).toBe(true);
  });

  it("go round", () => {
    expect(next(["a", "b", "c"], "b")).toBe("c");
    expect(next(["a", "b", "c"], "c")).toBe("a");
  });
});

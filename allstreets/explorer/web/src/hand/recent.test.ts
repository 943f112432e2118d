import { describe, expect, it } from "vitest";
import { Recent } from "./recent";

describe("recent answers", () => {
  it("are the newest", () => {
    const recent = new Recent<number>(2);
    recent.set("a", 1);
    recent.set("b", 2);
    recent.set("a", 3);
    recent.set("c", 4);
    expect([recent.get("a"), recent.get("b"), recent.get("c")]).toEqual([3, undefined, 4]);
  });
});

import { describe, expect, it } from "vitest";
import { HAND_GROUPS } from "./hands";

const sizes = Object.fromEntries(HAND_GROUPS.map((group) => [group.label, group.hands.length]));

describe("groups of hands", () => {
  it("are as large as players know them", () => {
    expect(sizes).toEqual({
      All: 169,
      Pairs: 13,
      Suited: 78,
      Broadways: 20,
      "Suited aces": 12,
      Connectors: 12,
    });
  });

  it("hold what their name says", () => {
    const hands = new Map(HAND_GROUPS.map((group) => [group.label, group.hands]));
    expect(hands.get("Broadways")).toContain("JTo");
    expect(hands.get("Broadways")).not.toContain("T9s");
    expect(hands.get("Connectors")).toContain("AKs");
    expect(hands.get("Connectors")).not.toContain("AKo");
    expect(hands.get("Connectors")).toContain("32s");
  });
});

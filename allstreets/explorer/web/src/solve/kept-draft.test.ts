import { describe, expect, it } from "vitest";
import { draftOf } from "./draft";
import { isLike, readDraft } from "./kept-draft";

const player = { bet: "", raise: "", donk: "" };
const street = { oop: player, ip: player };
const MODEL = draftOf({
  name: "",
  board: "QsJh2h",
  oop_range: "AA",
  ip_range: "KK",
  pot: 10,
  stack: 95,
  sizes: { flop: street, turn: street, river: street },
  rake: 0,
  add_allin_threshold: 0,
  edits: "",
  force_allin_threshold: 0.1,
  merging_threshold: 0,
  target_pct: 0.3,
  precision: "float32",
  river_groups: "none",
  device: "cpu",
});

describe("a kept draft", () => {
  it("comes back", () => {
    const draft = { ...MODEL, pot: "half a num" };
    expect(readDraft(JSON.stringify(draft), MODEL)).toEqual(draft);
  });

  it("of another shape is forgotten", () => {
    const { pot, ...without } = MODEL;
    expect(pot).toBe("10");
    for (const text of [null, "", "null", "[]", "{", JSON.stringify(without)]) {
      expect(readDraft(text, MODEL)).toBeNull();
    }
    expect(readDraft(JSON.stringify({ ...MODEL, sizes: { flop: street } }), MODEL)).toBeNull();
    expect(readDraft(JSON.stringify({ ...MODEL, pot: 10 }), MODEL)).toBeNull();
    expect(isLike({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  });
});

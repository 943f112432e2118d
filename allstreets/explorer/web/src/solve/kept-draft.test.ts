import { describe, expect, it } from "vitest";
import { draftOf } from "./draft";
import { isLike, readDraft } from "./kept-draft";
import { FORM } from "./sample-form";

const MODEL = draftOf(FORM);

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
    expect(readDraft(JSON.stringify({ ...MODEL, sizes: { flop: FORM.sizes.flop } }), MODEL)).toBeNull();
    expect(readDraft(JSON.stringify({ ...MODEL, pot: 10 }), MODEL)).toBeNull();
    expect(isLike({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  });
});

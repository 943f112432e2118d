import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GRID_HANDS } from "../common/cards";
import { EditedRange } from "./range.svelte";

// A server that understands texts such as "AA:1 KK:0.5": enough to see who has the last word.
// Answers wait until they are let go.
let waiting: (() => void)[];
let texts: string[];
let range: EditedRange;

interface Question {
  text: string;
  changes: Record<string, number>;
}

function read({ text, changes }: Question) {
  const known = Object.fromEntries(
    text.split(" ").filter(Boolean).map((token) => token.split(":") as [string, string]),
  );
  const bad = Object.keys(known).find((hand) => !GRID_HANDS.includes(hand));
  const weights = { ...known, ...changes } as Record<string, number>;
  const written = Object.entries(weights).filter(([, weight]) => Number(weight) > 0);
  return {
    text: bad ? text : written.map(([hand, weight]) => `${hand}:${weight}`).join(" "),
    weights: GRID_HANDS.map((hand) => (bad ? 0 : Number(weights[hand] ?? 0))),
    mixed: [],
    combos: written.length,
    percent: 0,
    problem: bad ? { message: `${bad} is no hand`, field: "text", hints: [] } : null,
  };
}

function answer(url: string, init?: RequestInit): Promise<Response> {
  if (url === "/api/about") return Promise.resolve(Response.json({ hands: GRID_HANDS }));
  const question = JSON.parse(init?.body as string) as Question;
  return new Promise((resolve, reject) => {
    waiting.push(() => resolve(Response.json(read(question))));
    init?.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
}

const settled = () => vi.advanceTimersByTimeAsync(0);

async function letGo(): Promise<void> {
  await settled();
  for (const go of waiting.splice(0)) go();
  await settled();
}

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", answer);
  waiting = [];
  texts = [];
  range = new EditedRange((text) => texts.push(text));
  range.read("AA:1");
  await letGo();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("an edited range", () => {
  it("is read as text", () => {
    expect([range.weights["AA"], range.weights["KK"], range.combos]).toEqual([1, 0, 1]);
    expect(texts).toEqual([]); // nothing was changed
  });

  it("shows what is painted at once, and writes it when the stroke ends", async () => {
    range.paint(["KK"], 0.5);
    expect(range.weights["KK"]).toBe(0.5);
    expect(range.text).toBe("AA:1");
    void range.commit();
    await letGo();
    expect(range.text).toBe("AA:1 KK:0.5");
    expect(texts).toEqual(["AA:1 KK:0.5"]);
  });

  it("loses no stroke that is made while an answer is on its way", async () => {
    range.paint(["KK"], 1);
    void range.commit();
    await settled();
    range.paint(["QQ"], 1);
    await letGo();
    expect([range.weights["KK"], range.weights["QQ"]]).toEqual([1, 1]);
    void range.commit();
    await letGo();
    expect(range.text).toBe("AA:1 KK:1 QQ:1");
  });

  it("sends the strokes of a question that was dropped once more", async () => {
    range.paint(["KK"], 1);
    void range.commit();
    await settled();
    range.paint(["QQ"], 1);
    void range.commit();
    await letGo();
    expect(range.text).toBe("AA:1 KK:1 QQ:1");
    expect([range.weights["KK"], range.weights["QQ"]]).toEqual([1, 1]);
  });

  it("keeps the grid of the last text that could be read", async () => {
    range.type("KK:1 nonsense");
    await vi.advanceTimersByTimeAsync(300);
    await letGo();
    expect(range.problem).toBe("nonsense is no hand");
    expect([range.weights["AA"], range.text]).toEqual([1, "KK:1 nonsense"]);
    range.paint(["QQ"], 1);
    void range.commit();
    await letGo();
    expect([range.problem, range.text]).toEqual([null, "AA:1 QQ:1"]);
  });

  it("leaves text alone while it is typed, and tidies it afterwards", async () => {
    range.type("KK:1  QQ:1");
    await vi.advanceTimersByTimeAsync(300);
    await letGo();
    expect([range.text, range.weights["QQ"]]).toEqual(["KK:1  QQ:1", 1]);
    void range.tidy();
    await letGo();
    expect(range.text).toBe("KK:1 QQ:1");
  });

  it("is not tidied by an answer that came too late", async () => {
    range.type("KK:1  QQ:1");
    void range.tidy();
    await settled();
    range.type("KK:1  QQ:1  J");
    await letGo();
    expect(range.text).toBe("KK:1  QQ:1  J");
    expect(texts).toEqual(["KK:1  QQ:1", "KK:1  QQ:1  J"]);
  });

  it("paints on a text that has not been read yet", async () => {
    range.type("KK:1");
    range.paint(["QQ"], 1);
    void range.commit();
    await letGo();
    expect(range.text).toBe("KK:1 QQ:1");
  });

  it("takes changes back, one by one", async () => {
    for (const hand of ["KK", "QQ"]) {
      range.paint([hand], 1);
      void range.commit();
      await letGo();
    }
    void range.clear();
    await letGo();
    const seen = [];
    while (range.earlier.length > 0) {
      range.undo();
      await letGo();
      seen.push(range.text);
    }
    expect(seen).toEqual(["AA:1 KK:1 QQ:1", "AA:1 KK:1", "AA:1"]);
    expect([range.weights["AA"], range.weights["KK"]]).toEqual([1, 0]);
    expect(texts.at(-1)).toBe("AA:1");
  });

  it("has nothing to take back once another one is shown", async () => {
    range.paint(["KK"], 1);
    void range.commit();
    await letGo();
    range.read("QQ:1");
    await letGo();
    expect(range.earlier).toEqual([]);
    range.undo();
    expect(range.text).toBe("QQ:1");
  });

  it("is cleared", async () => {
    void range.clear();
    await letGo();
    expect([range.text, range.combos, range.weights["AA"]]).toEqual(["", 0, 0]);
    expect(texts).toEqual([""]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GRID_HANDS } from "../common/cards";
import { EditedRange } from "./range.svelte";
import { readRange } from "./reading";

// A server that writes ranges hand by hand, and that reads "#AA KK", which the page does not.
// Answers wait until they are let go.
let waiting: (() => void)[];
let texts: string[];
let range: EditedRange;
let there: boolean;

function read(text: string) {
  const grid = readRange(text.replace("#", ""));
  const hands = GRID_HANDS.filter((hand) => (grid?.weights[hand] ?? 0) > 0);
  const written = hands.map((hand) => {
    const weight = grid?.weights[hand] ?? 0;
    return weight === 1 ? hand : `${hand}:${weight}`;
  });
  return {
    text: grid ? written.join(",") : text,
    weights: GRID_HANDS.map((hand) => grid?.weights[hand] ?? 0),
    mixed: [],
    combos: grid?.combos ?? 0,
    percent: grid?.percent ?? 0,
    problem: grid ? null : { message: `${text} is no range`, field: "text", hints: [] },
  };
}

function answer(url: string, init?: RequestInit): Promise<Response> {
  if (url === "/api/about") return Promise.resolve(Response.json({ hands: GRID_HANDS }));
  if (!there) return Promise.reject(new TypeError("refused"));
  const { text } = JSON.parse(init?.body as string) as { text: string };
  return new Promise((resolve, reject) => {
    waiting.push(() => resolve(Response.json(read(text))));
    init?.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
}

const settled = () => vi.advanceTimersByTimeAsync(0);

async function letGo(): Promise<void> {
  await settled();
  for (const go of waiting.splice(0)) go();
  await settled();
}

function click(hand: string, brush = 1): void {
  range.begin(hand, brush);
  range.end();
}

function shown(): string[] {
  return GRID_HANDS.filter((hand) => (range.weights[hand] ?? 0) > 0);
}

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", answer);
  waiting = [];
  texts = [];
  there = true;
  range = new EditedRange((text) => texts.push(text));
  range.read("AA");
  await letGo();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("an edited range", () => {
  it("is read as text", () => {
    expect([range.weights["AA"], range.weights["KK"], range.grid.combos]).toEqual([1, 0, 6]);
    expect(texts).toEqual([]); // nothing was changed
  });

  it("shows a stroke while it goes on, and writes it when it ends", async () => {
    range.begin("KK", 0.5);
    range.extend(["KK", "QQ"]);
    expect([range.weights["KK"], range.weights["QQ"], range.text]).toEqual([0.5, 0.5, "AA"]);
    range.end();
    expect(texts).toEqual(["AA,KK:0.5,QQ:0.5"]); // whoever solves now solves this
    await letGo();
    expect(range.text).toBe("AA,KK:0.5,QQ:0.5");
  });

  it("is cleared and painted before the server has answered", async () => {
    void range.clear();
    expect([range.text, shown(), range.grid.combos]).toEqual(["", [], 0]);
    click("AA");
    click("AKs");
    expect(shown()).toEqual(["AA", "AKs"]);
    await letGo();
    expect([range.text, shown()]).toEqual(["AA,AKs", ["AA", "AKs"]]);
  });

  it.each([
    ["undone", () => range.undo()],
    ["replaced by one that was kept", () => void range.replace("AA")],
    ["another example", () => range.read("AA")],
    ["typed", () => range.type("AA")],
  ])("is painted by what it is when it has just been %s", async (_, change) => {
    click("KK");
    await letGo();
    change();
    expect(shown()).toEqual(["AA"]);
    click("KK");
    expect(shown()).toEqual(["AA", "KK"]);
    await letGo();
    expect([range.text, shown()]).toEqual(["AA,KK", ["AA", "KK"]]);
  });

  it("lets strokes wait for a text that only the server can read", async () => {
    void range.replace("#KK QQ");
    expect([range.waits, shown()]).toEqual([true, ["AA"]]);
    click("AA"); // which the new range does not have
    click("KK"); // which it has
    range.paint(["77", "66"], 0.5);
    await letGo();
    expect(range.waits).toBe(false);
    expect(shown()).toEqual(["AA", "QQ", "77", "66"]);
    await letGo();
    expect(range.text).toBe("AA,QQ,77:0.5,66:0.5");
  });

  it("asks for such a text at once when a stroke waits", async () => {
    range.type("#KK");
    click("QQ");
    await letGo(); // without a pause
    await letGo();
    expect(range.text).toBe("KK,QQ");
  });

  it("forgets strokes on a text that nobody can read, and keeps that text", async () => {
    void range.replace("nonsense");
    click("KK");
    await letGo();
    expect([range.text, range.problem, shown()]).toEqual(["nonsense", "nonsense is no range", ["AA"]]);
  });

  it("keeps strokes until a server that is gone is back", async () => {
    void range.replace("#KK");
    await settled();
    there = false;
    click("QQ");
    await letGo();
    expect(range.problem).toMatch("does not answer");
    there = true;
    click("JJ");
    await letGo();
    await letGo();
    expect([range.text, range.problem]).toEqual(["KK,QQ,JJ", null]);
  });

  it("loses no stroke that goes on while an answer comes", async () => {
    click("KK");
    await settled();
    range.begin("QQ", 1);
    await letGo();
    expect(shown()).toEqual(["AA", "KK", "QQ"]);
    range.end();
    await letGo();
    expect(range.text).toBe("AA,KK,QQ");
  });

  it("keeps the grid of the last text that could be read", async () => {
    range.type("AA nonsense");
    await vi.advanceTimersByTimeAsync(300);
    await letGo();
    expect(range.problem).toBe("AA nonsense is no range");
    expect([shown(), range.text]).toEqual([["AA"], "AA nonsense"]);
    click("QQ");
    await letGo();
    expect([range.problem, range.text]).toEqual([null, "AA,QQ"]);
  });

  it("leaves text alone while it is typed, and tidies it afterwards", async () => {
    range.type("KK  QQ");
    expect(shown()).toEqual(["KK", "QQ"]);
    await vi.advanceTimersByTimeAsync(300);
    await letGo();
    expect(range.text).toBe("KK  QQ");
    void range.tidy();
    await letGo();
    expect(range.text).toBe("KK,QQ");
  });

  it("is not tidied by an answer that came too late", async () => {
    range.type("KK  QQ");
    void range.tidy();
    await settled();
    range.type("KK  QQ  J");
    await letGo();
    expect(range.text).toBe("KK  QQ  J");
    expect(texts).toEqual(["KK  QQ", "KK  QQ  J"]);
  });

  it("is replaced by what was pasted, as the server writes it, whatever program it is from", async () => {
    for (const text of ["#AA KK", "#AA:1\nKK:1", "AA KK"]) {
      void range.clear();
      await letGo();
      expect([range.text, shown()]).toEqual(["", []]);
      void range.replace(text);
      await letGo();
      expect([range.text, shown()]).toEqual(["AA,KK", ["AA", "KK"]]);
      expect(texts.at(-1)).toBe("AA,KK");
    }
    range.type("[50]AA");
    await vi.advanceTimersByTimeAsync(1000);
    await letGo();
    expect([range.text, range.problem]).toEqual(["[50]AA", "[50]AA is no range"]);
  });

  it("takes changes back, one by one", async () => {
    for (const hand of ["KK", "QQ"]) {
      click(hand);
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
    expect(seen).toEqual(["AA,KK,QQ", "AA,KK", "AA"]);
    expect(texts.at(-1)).toBe("AA");
  });

  it("takes changes back as quickly as they were made", async () => {
    click("KK");
    click("QQ");
    range.type("AA,JJ");
    range.undo();
    expect(shown()).toEqual(["AA", "KK", "QQ"]);
    range.undo();
    expect(shown()).toEqual(["AA", "KK"]);
    await letGo();
    expect(range.text).toBe("AA,KK");
    range.undo();
    expect([shown(), range.earlier]).toEqual([["AA"], []]);
  });

  it("has nothing to take back where nothing has changed", async () => {
    range.paint(["AA"], 1);
    await letGo();
    expect([range.text, range.earlier]).toEqual(["AA", []]);
  });

  it.each(["QQ", "#QQ"])("has nothing to take back once %s is shown", async (text) => {
    click("KK");
    await letGo();
    range.read(text);
    await letGo();
    expect([range.earlier, shown()]).toEqual([[], ["QQ"]]);
    range.undo();
    expect(range.text).toBe(text);
  });
});

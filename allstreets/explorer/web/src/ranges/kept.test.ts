import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HeldAnswers, heard } from "../common/held-answers";
import { KeptRanges } from "./kept.svelte";

let stored: Map<string, string>;
let kept: KeptRanges;

function answer(url: string, init?: RequestInit): Promise<Response> {
  const name = new URL(url, "http://here").searchParams.get("name") ?? "";
  if (init?.method === "POST") {
    const form = JSON.parse(init.body as string) as { name: string; text: string };
    if (form.text === "AX") {
      const refusal = { message: "'AX' is not a hand", problems: [] };
      return Promise.resolve(Response.json(refusal, { status: 422 }));
    }
    stored.set(form.name, form.text);
  } else if (init?.method === "DELETE") stored.delete(name);
  const list = [...stored].map(([key, text]) => ({ name: key, text, combos: 6 }));
  return Promise.resolve(Response.json(list));
}

beforeEach(() => {
  stored = new Map([["mine", "AA"]]);
  kept = new KeptRanges();
  vi.stubGlobal("fetch", answer);
});
afterEach(() => vi.unstubAllGlobals());

it("lists, keeps and forgets", async () => {
  await kept.load();
  expect(kept.find(" mine ")?.text).toBe("AA");
  expect(await kept.keep("BB & SB", "KK")).toBe(true);
  expect(kept.list.map((one) => one.name)).toEqual(["mine", "BB & SB"]);
  expect(await kept.forget("BB & SB")).toBe(true);
  expect(kept.find("BB & SB")).toBeUndefined();
});

it("says why a range is not kept, and what is kept stays", async () => {
  await kept.load();
  expect(await kept.keep("wrong", "AX")).toBe(false);
  expect(kept.problem).toBe("'AX' is not a hand");
  expect(kept.list.length).toBe(1);
  expect(await kept.keep("right", "QQ")).toBe(true);
  expect(kept.problem).toBeNull();
});

it("shows the newest list, whichever comes last", async () => {
  const server = new HeldAnswers();
  void kept.load();
  const done = kept.keep("mine", "AA");
  await server.answer("POST /api/ranges", {});
  await server.answer("GET /api/ranges", [{ name: "mine", text: "AA", combos: 6 }], "newest");
  if (server.names.length > 0) await server.answer("GET /api/ranges", []);
  expect(await done).toBe(true);
  expect(kept.find("mine")?.text).toBe("AA");
});

it("keeps ranges in the order in which that was asked for", async () => {
  const server = new HeldAnswers();
  void kept.keep("mine", "AA");
  void kept.keep("mine", "KK");
  await heard();
  expect(server.bodies).toEqual([{ name: "mine", text: "AA" }]);
  await server.answer("POST /api/ranges", {});
  expect(server.names).toContain("POST /api/ranges");
});

it("does not hide why a range is not kept behind a list that comes later", async () => {
  const server = new HeldAnswers();
  void kept.load();
  void kept.keep("mine", "AX");
  await server.refuse("POST /api/ranges", "'AX' is not a hand");
  await server.answer("GET /api/ranges", []);
  expect(kept.problem).toBe("'AX' is not a hand");
});

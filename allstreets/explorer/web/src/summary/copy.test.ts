import { expect, it, vi } from "vitest";
import { HeldAnswers, heard } from "../common/held-answers";
import { KINDS } from "../ranges/kinds";
import { Copier } from "./copy.svelte";

it("leaves what was copied last in the clipboard, whichever answer comes last", async () => {
  const server = new HeldAnswers();
  const written: string[] = [];
  vi.stubGlobal("navigator", {
    clipboard: { writeText: async (text: string) => void written.push(text) },
  });
  const copier = new Copier();
  void copier.copyText("AA", "the range of OOP");
  copier.choose("gto+");
  void copier.copyText("KK", "the range of IP");
  copier.choose("csv"); // for the next time
  await server.answer("POST /api/range/text", { text: "KK", combos: 6 }, "newest");
  if (server.names.length > 0) await server.answer("POST /api/range/text", { text: "AA", combos: 6 });
  await heard();
  expect([written.at(-1), copier.message]).toEqual(["KK", "Copied the range of IP as GTO+: 6 combos"]);
});

it("writes every kind that can be chosen, and says which", async () => {
  const server = new HeldAnswers();
  const written: string[] = [];
  vi.stubGlobal("navigator", {
    clipboard: { writeText: async (text: string) => void written.push(text) },
  });
  const copier = new Copier();
  for (const { kind, label } of KINDS) {
    copier.choose(kind);
    void copier.copyText("QQ+,AKs", "the range of OOP");
    await heard();
    expect(server.bodies).toEqual([{ text: "QQ+,AKs", kind }]);
    await server.answer("POST /api/range/text", { text: `as ${kind}`, combos: 22 });
    expect(written.at(-1)).toBe(`as ${kind}`);
    expect(copier.message).toBe(`Copied the range of OOP as ${label}: 22 combos`);
  }
});

// What the form says of a spot that cannot be solved: rendered, as the page begins.

import { render } from "svelte/server";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HeldAnswers } from "../common/held-answers";
import { editor } from "./form.svelte";
import { FORM } from "./sample-form";
import SizesFields from "./SizesFields.svelte";

let panel: () => string;

beforeEach(async () => {
  vi.stubGlobal("location", { pathname: "/solve", search: "" }); // links know where they are
  vi.stubGlobal("addEventListener", () => undefined);
  const { default: EstimatePanel } = await import("./EstimatePanel.svelte");
  panel = () => render(EstimatePanel, { props: { solves: [] } }).body;
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function fields(): string {
  if (!editor.draft) throw new Error("there is no spot");
  return render(SizesFields, { props: { draft: editor.draft } }).body;
}

const button = () => /<button[^>]*>Solve</.exec(panel())?.[0];

it("is said beside its field, and there is nothing to solve until it is right", async () => {
  const server = new HeldAnswers();
  editor.fill(FORM);
  await vi.advanceTimersByTimeAsync(1000);
  void server.answer("POST /api/solves/estimate", { problems: [], memory_bytes: 1 });
  await vi.advanceTimersByTimeAsync(0);
  expect(button()).not.toContain("disabled");
  expect(fields()).not.toContain('aria-invalid="true"');

  const player = { bet: "33%, many", raise: "", donk: "" };
  const street = { oop: player, ip: player };
  editor.change({ sizes: { flop: street, turn: street, river: street } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(server.bodies).toMatchObject([{ sizes: { river: { ip: { bet: "33%, many" } } } }]);
  const message = "'many' is no bet size";
  const places = ["flop", "turn", "river"].flatMap((name) => [`${name}.oop`, `${name}.ip`]);
  const problems = places.map((place) => ({ field: `sizes.${place}.bet`, message, hints: [] }));
  void server.answer("POST /api/solves/estimate", { problems });
  await vi.advanceTimersByTimeAsync(0);

  // The only field of all streets and players that is marked, and a line that it refers to.
  const written = fields();
  const marked = written.match(/<input[^>]*aria-invalid="true"[^>]*>/g) ?? [];
  expect(marked).toHaveLength(1);
  expect(marked[0]).toContain('value="33%, many"');
  const told = /aria-describedby="([^"]+)"/.exec(marked[0] ?? "")?.[1] ?? "nowhere";
  expect(written).toMatch(new RegExp(`id="${told}"[^>]*>'many' is no bet size<`));
  expect(button()).toContain("disabled");
  expect(/<div id="reason"[^]*?<\/div>/.exec(panel())?.[0]).toContain(message);
});

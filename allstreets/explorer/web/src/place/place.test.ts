import { expect, it, vi } from "vitest";
import { HeldAnswers } from "../common/held-answers";

it("shows where the cards are dealt if a link names a flop that is not stored", async () => {
  vi.stubGlobal("location", { pathname: "/", search: "" });
  vi.stubGlobal("addEventListener", () => undefined);
  const { PlaceStore } = await import("./place.svelte");
  const server = new HeldAnswers();
  const store = new PlaceStore("1f");
  const asks = (line: string): string =>
    `GET /api/solutions/1f/place?line=${encodeURIComponent(line)}&evs=here`.replaceAll("%20", "+");
  store.follow({ line: "c x | AhKd7s |", evs: null }, 0);
  // Other tests ask anew: an answer that never came would be waited for there.
  const about = "GET /api/about";
  if (server.names.includes(about)) await server.refuse(about, "not asked for here");
  await server.refuse(asks("c x | AhKd7s |"), "not among the 3", 404);
  await server.answer(asks("c x"), { line: "c x", steps: [], written: "1" });
  expect([store.place?.line, store.asked.error?.message]).toEqual(["c x", "not among the 3"]);

  store.follow({ line: "c x | AhKd7c |", evs: null }, 0); // as after a click: the deal is there
  await server.refuse(asks("c x | AhKd7c |"), "not among the 3", 404);
  expect(server.names.filter((name) => name.includes("/place"))).toEqual([]);
  expect([store.place?.line, store.asked.error?.message]).toEqual(["c x", "not among the 3"]);
});

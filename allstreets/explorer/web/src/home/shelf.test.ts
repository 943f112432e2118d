import { expect, it } from "vitest";
import { HeldAnswers, heard } from "../common/held-answers";
import { Shelf } from "./shelf.svelte";

const named = (...ids: string[]): { id: string }[] => ids.map((id) => ({ id }));

it("shows the newest list of the trash, whichever comes last", async () => {
  const server = new HeldAnswers();
  const shelf = new Shelf();
  shelf.load();
  const deleted = shelf.delete("a");
  await server.answer("DELETE /api/solutions/a", { id: "a" });
  expect(await deleted).toBe(true);
  await server.answer("GET /api/trash", named("a"), "newest");
  if (server.names.includes("GET /api/trash")) await server.answer("GET /api/trash", []);
  expect(shelf.trash).toEqual(named("a"));
});

it("offers to bring back what was deleted last", async () => {
  const server = new HeldAnswers();
  const shelf = new Shelf();
  const both = [shelf.delete("a"), shelf.delete("b")];
  await heard();
  const early = server.names.includes("DELETE /api/solutions/b");
  if (early) await server.answer("DELETE /api/solutions/b", { id: "b" });
  await server.answer("DELETE /api/solutions/a", { id: "a" });
  if (!early) await server.answer("DELETE /api/solutions/b", { id: "b" });
  await Promise.all(both);
  expect(shelf.gone?.id).toBe("b");
});

it("does not hide why a change was refused behind a list that comes later", async () => {
  const server = new HeldAnswers();
  const shelf = new Shelf();
  const labelled = shelf.label("a", { name: "x", note: "" });
  await server.refuse("POST /api/solutions/a/label", "no such solution");
  shelf.load();
  await server.answer("GET /api/trash", []);
  expect([await labelled, shelf.refused]).toEqual([false, "no such solution"]);
});

import { afterEach, expect, it } from "vitest";
import { HeldAnswers } from "../common/held-answers";
import { SolveList } from "./solves.svelte";

const listed = (...ids: string[]): unknown[] => ids.map((id) => ({ id, state: "done" }));
let leave: () => void = () => undefined;
afterEach(() => leave());

it("shows the newest list, whichever comes last", async () => {
  const server = new HeldAnswers();
  const list = new SolveList();
  leave = list.follow();
  const deleted = list.delete("a");
  await server.answer("DELETE /api/solves/a", { id: "trashed" });
  await server.answer("GET /api/solves", listed("b"), "newest");
  if (server.names.length > 0) await server.answer("GET /api/solves", listed("a", "b"));
  await deleted;
  expect(list.solves.map((solve) => solve.id)).toEqual(["b"]);
});

it("brings back once what was deleted, however often that is asked for", async () => {
  const server = new HeldAnswers();
  const list = new SolveList();
  void list.delete("a");
  await server.answer("DELETE /api/solves/a", { id: "t" });
  void list.undo();
  void list.undo();
  await server.answer("POST /api/trash/t/restore", []);
  expect(server.names).toEqual(["GET /api/solves"]);
  expect([list.gone, list.problem]).toEqual([null, null]);
});

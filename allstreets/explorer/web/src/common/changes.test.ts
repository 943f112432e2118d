import { expect, it } from "vitest";
import { RefusedError } from "../api/client";
import { Changes } from "./changes.svelte";
import { heard } from "./held-answers";

it("makes changes one after the other, also after one was refused", async () => {
  const changes = new Changes();
  const done: string[] = [];
  let first: () => void = () => undefined;
  const results = [
    changes.make(() => new Promise<void>((resolve) => (first = resolve)).then(() => void done.push("a"))),
    changes.make(() => Promise.reject(new RefusedError(422, "no"))),
    changes.make(async () => void done.push("c")),
  ];
  await heard();
  expect(done).toEqual([]);
  first();
  expect(await Promise.all(results)).toEqual([true, false, true]);
  expect([done, changes.refusal]).toEqual([["a", "c"], null]);
});

it("says why the last one was refused", async () => {
  const changes = new Changes();
  await changes.make(() => Promise.reject(new RefusedError(422, "no")));
  expect(changes.refusal?.message).toBe("no");
});

import { beforeEach, expect, it, vi } from "vitest";
import type { Router } from "./router.svelte";

let router: Router;

beforeEach(async () => {
  const place = { pathname: "/solve", search: "" };
  vi.stubGlobal("location", place);
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("history", {
    pushState: (_: unknown, __: string, text: string) => (place.pathname = text),
  });
  const made = await import("./router.svelte");
  router = new made.Router();
});

it("goes on to what was asked for, from the page where that was done", () => {
  const open = router.onward();
  open({ page: "solve", id: "one" });
  expect(router.address).toEqual({ page: "solve", id: "one" });
});

it("leaves people alone who have opened another page meanwhile", () => {
  const open = router.onward();
  router.go({ page: "train" });
  open({ page: "solve", id: "one" });
  expect(router.address).toEqual({ page: "train" });
});

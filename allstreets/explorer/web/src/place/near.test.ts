import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { linesOn, NearPlaces } from "./near";

type Place = Schemas["Place"];
const place = (line: string, written = "1", here: unknown = { kind: "end" }): Place =>
  ({ line, written, here }) as unknown as Place;

test("a place is found by its question until the solution is written anew", () => {
  const near = new NearPlaces();
  near.keep("0 here c", place("c"));
  near.keep("0 here c x", place("c x"));
  expect(near.get("0 here c")?.line).toBe("c");
  expect(near.get("0 hand c")).toBeNull();
  near.keep("0 here r2", place("r2", "2"));
  expect([near.get("0 here c"), near.get("0 here r2")?.line]).toEqual([null, "r2"]);
});

test("so many places are kept, the latest ones", () => {
  const near = new NearPlaces();
  for (let at = 0; at < 300; at += 1) near.keep(String(at), place(String(at)));
  expect([near.get("99"), near.get("100")?.line, near.get("299")?.line]).toEqual([null, "100", "299"]);
});

test("what is likely to follow is looked up first, and what hardly happens not at all", () => {
  const actions = [
    { line: "f", frequency: 0.2 },
    { line: "c", frequency: 0.799 },
    { line: "a", frequency: 0.001 },
    { line: "r", frequency: null },
  ];
  expect(linesOn(place("", "1", { kind: "decision", actions }))).toEqual(["c", "f"]);
  expect(linesOn(place("c x", "1", { kind: "deal" }))).toEqual([]);
});

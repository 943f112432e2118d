import { expect, test } from "vitest";

import type { Schemas } from "../api/client";
import { rows } from "./words";

const river = {
  street: "river" as const,
  exploitability: 2,
  prices: [1, 3],
  mixed_before: 8,
  mixed_after: 5,
};
const price: Schemas["SimplePrice"] = {
  rule: "steps of 25 %",
  unit: "% of pot",
  judged: "in its own game",
  seats: ["OOP", "IP"],
  before: 0.1,
  after: 4,
  prices: [3, 5],
  decisions_before: 20,
  mixed_before: 9,
  decisions_after: 18,
  mixed_after: 6,
  streets: [{ ...river, street: "turn" }, river],
};

test("each street alone comes before all of them", () => {
  expect(rows(price).map((row) => row.what)).toEqual(["turn alone", "river alone", "all streets"]);
  expect(rows(price).at(-1)).toMatchObject({ exploitability: 4, prices: [3, 5], before: 9, after: 6 });
});

test("one street is all of them", () => {
  const found = rows({ ...price, streets: [river] });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ what: "river", exploitability: 4, all: true });
});

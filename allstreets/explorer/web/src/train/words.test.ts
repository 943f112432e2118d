import { expect, test } from "vitest";
import { costsOf } from "./words";

const ESTIMATE = {
  problems: [],
  free_bytes: 8_000_000_000,
  name: "smoke",
  title: "10 bb, flops spread_3, cards classes",
  memory_bytes: 250_000_000,
  disk_bytes: null,
  setup_seconds: 0.2,
  seconds_per_iteration: 0.0212,
  iterations: 200,
  seconds: 4.3,
  target: null,
  flops: 3,
  pots: 4,
  decisions: 120,
};

test("what is known of a game is told, and nothing else", () => {
  expect(costsOf(ESTIMATE)).toEqual([
    ["Game", "10 bb, flops spread_3, cards classes"],
    ["Memory", "250 MB of 8.0 GB free"],
    ["Iterations", "200"],
    ["Each", "about 0.021 s"],
    ["In all", "at most about 4.3 s"],
    ["Flops", "3"],
    ["Pots that see one", "4"],
    ["Decisions on each", "120"],
  ]);
  const more = { ...ESTIMATE, target: 5, disk_bytes: 9_900_000_000, setup_seconds: 75 };
  const told = Object.fromEntries(costsOf(more));
  expect(told).toMatchObject({ "Ends at": "5 mbb/hand", "On disk": "9.9 GB" });
  expect(told["Set-up"]).toBe("about 1 min 15 s");
});

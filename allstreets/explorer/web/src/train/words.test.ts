import { expect, test } from "vitest";
import { costsOf, expectedOf, sizeOf, tookOf } from "./words";

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
  buckets: null,
  expected_mbb: null,
  expected_before_mbb: null,
  expected_factor: null,
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

test("what a quality takes and is worth", () => {
  const boards = {
    ...ESTIMATE,
    seconds: 1_111,
    memory_bytes: 9_300_000_000,
    flops: 49,
    buckets: 48,
    iterations: 150,
    expected_mbb: 21.44,
    expected_before_mbb: 10.1,
    expected_factor: 2,
  };
  expect(tookOf(boards)).toBe("about 19 min, 9.3 GB");
  expect(tookOf({ ...boards, seconds: 10_000 })).toBe("about 2.8 h, 9.3 GB");
  expect(tookOf({ ...boards, seconds: 0.3 })).toBe("about 1 s, 9.3 GB");
  expect(sizeOf(boards)).toBe("49 flops, 48 river buckets, 150 iterations");
  expect(expectedOf(boards)).toBe("a perfect opponent wins about 21 mbb/hand (11 to 43)");
  expect(expectedOf(ESTIMATE)).toContain("not known");
  const push = { ...ESTIMATE, pots: 0 };
  expect([sizeOf(push), expectedOf(push)]).toEqual(["no flop is seen", "solved exactly"]);
  expect(costsOf(push).slice(-1)).toEqual([["Flops", "no flop is seen"]]);
});

// A small spot as a form, for tests.

import type { SpotForm } from "./draft";

const player = { bet: "", raise: "", donk: "" };
const street = { oop: player, ip: player };
export const FORM: SpotForm = {
  name: "",
  board: "QsJh2h",
  oop_range: "AA",
  ip_range: "KK",
  pot: 10,
  stack: 95,
  sizes: { flop: street, turn: street, river: street },
  rake: 0,
  add_allin_threshold: 0,
  edits: "",
  force_allin_threshold: 0.1,
  merging_threshold: 0,
  target_pct: 0.3,
  precision: "float32",
  river_groups: "none",
  device: "cpu",
};

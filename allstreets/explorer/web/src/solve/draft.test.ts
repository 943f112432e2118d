import { describe, expect, it } from "vitest";
import { draftOf, formOf, type SpotForm } from "./draft";

const player = { bet: "33%, 75%", raise: "60%, a", donk: "" };
const street = { oop: player, ip: player };
const FORM: SpotForm = {
  name: "turn",
  board: "AhTd6s3c",
  oop_range: "22+,A2s+",
  ip_range: "TT+",
  pot: 100,
  stack: 500,
  chips_per_bb: null,
  max_raises: null,
  sizes: { flop: street, turn: street, river: street },
  rake: 0.07,
  rake_cap: null,
  add_allin_threshold: 0,
  edits: "",
  force_allin_threshold: 0.1,
  merging_threshold: 0,
  target_pct: 0.3,
  max_seconds: null,
  precision: "float32",
  river_groups: "none",
  device: "cpu",
};

describe("a form", () => {
  it.each<Partial<SpotForm>>([
    {},
    { max_seconds: 300 },
    { max_seconds: 7200 },
    { max_seconds: 61.5 },
    { rake: 0, rake_cap: 12.5 },
    { pot: 5.5, stack: 97.25, chips_per_bb: 1, max_raises: 2 },
    { device: "cuda:1" },
    { rake: 0.0525, precision: "int16", river_groups: "suits", target_pct: 0.05 },
  ])("comes back as it was read: %o", (part) => {
    const form = { ...FORM, ...part };
    expect(formOf(draftOf(form))).toEqual({ form, problems: [] });
  });

  it("shows what people write", () => {
    const draft = draftOf({ ...FORM, max_seconds: 300 });
    expect([draft.rake, draft.max_seconds, draft.rake_cap]).toEqual(["7", "5m", ""]);
    expect(draft.sharing).toEqual({ players: true, streets: true });
  });

  it("reads numbers as they are written", () => {
    const texts = { pot: "1,000", stack: " 97 ", target_pct: ".5 %", max_seconds: "1.5 h" };
    const numbers = { pot: 1000, stack: 97, target_pct: 0.5, max_seconds: 5400 };
    expect(formOf({ ...draftOf(FORM), ...texts }).form).toMatchObject(numbers);
  });

  it("takes an empty share for nothing", () => {
    const draft = { ...draftOf(FORM), rake: "", add_allin_threshold: " " };
    expect(formOf(draft).form).toMatchObject({ rake: 0, add_allin_threshold: 0 });
  });

  it("names every number that cannot be read", () => {
    const texts = { pot: "12.555", stack: "", max_raises: "1.5", target_pct: "", max_seconds: "soon", rake: "-1" };
    const { form, problems } = formOf({ ...draftOf(FORM), ...texts });
    expect(form).toBeNull();
    expect(problems.map(({ field }) => field)).toEqual(Object.keys(texts));
  });
});

import { describe, expect, it } from "vitest";
import type { Schemas } from "../api/client";
import { age, byFolder, copiesText, listed, opens, sortedEntries } from "./list";

type Card = Schemas["SolutionCard"];

function card(name: string, title: string, kind: Card["kind"], more: Partial<Card> = {}): Card {
  return {
    id: name,
    kind,
    name,
    note: name === "turn" ? "for the final table" : "",
    title,
    folder: `/solved/${name}`,
    iterations: null,
    exploitability: null,
    unit: "",
    bytes: 0,
    modified: 0,
    written: "",
    problem: null,
    locks: 0,
    real: null,
    simple: null,
    part_of: null,
    tables: [],
    ...more,
  };
}
const CARDS = [card("turn", "AhTd6s3c, pot 100", "spot"), card("hu20", "20 bb, all flops", "unified")];

const of = { part_of: "set" };
const SET = [
  card("b2", "KhTd6s3c, pot 100", "spot", of),
  card("set", "btn, 3-bet: 3 of 4 boards", "spots", {
    tables: [
      { name: "btn", solutions: ["b1", "b2"] },
      { name: "3-bet", solutions: ["c1"] },
    ],
  }),
  card("new", "2h2d2c, pot 100", "spot", of),
  card("c1", "KhTd6s3d, pot 300", "spot", of),
  card("b1", "AhTd6s3c, pot 100", "spot", of),
];

describe("the list of solutions", () => {
  const names = (cards: readonly Card[], text: string) =>
    listed(cards, text).map((one) => one.card.name);

  it("is filtered by all words, anywhere", () => {
    expect(names(CARDS, "")).toEqual(["turn", "hu20"]);
    expect(names(CARDS, "SPOT ahtd")).toEqual(["turn"]);
    expect(names(CARDS, "final")).toEqual(["turn"]);
    expect(names(CARDS, "bb unified ")).toEqual(["hu20"]);
    expect(names(CARDS, "spot 20")).toEqual([]);
    expect(names([card("broken", "", null)], "broken")).toEqual(["broken"]);
  });

  it("has one entry for a set, with its boards in their order", () => {
    const [entry, ...rest] = listed(SET, "");
    expect(rest).toEqual([]);
    expect(entry?.card.name).toBe("set");
    expect([entry?.count, entry?.part]).toEqual([4, false]);
    const found = entry?.spots.map(({ name, cards }) => [name, ...cards.map((one) => one.id)]);
    expect(found).toEqual([
      ["btn", "b1", "b2"],
      ["3-bet", "c1"],
      ["not finished yet", "new"],
    ]);
    expect(entry?.spots.map(({ to }) => to?.tab ?? null)).toEqual(["flops", "strategy", null]);
    expect(entry && opens(entry)).toMatchObject({ id: "b1", tab: "flops" });
  });

  it("finds a set by its boards, and shows those alone", () => {
    const [entry] = listed(SET, "set kh 3d");
    expect([entry?.card.name, entry?.count, entry?.part]).toEqual(["set", 4, true]);
    expect(entry?.spots.map(({ name }) => name)).toEqual(["3-bet"]);
    expect(entry && opens(entry)).toMatchObject({ id: "c1", tab: "strategy" });
    expect(listed(SET, "3-bet boards")[0]?.spots).toHaveLength(3); // the set itself fits
    expect(listed(SET, "qs")).toEqual([]);
  });

  it("shows spots without their set, and sets without spots", () => {
    const spots = SET.filter((one) => one.kind === "spot");
    expect(names(spots, "")).toEqual(["b2", "new", "c1", "b1"]);
    const empty = listed([card("set", "no boards", "spots")], "")[0];
    expect(empty?.count).toBe(0);
    expect(empty && opens(empty)).toBeNull();
  });

  it("names the folders of those that read the same", () => {
    const twins = [card("turn", "AhTd", "spot"), card("turn", "AhTd", "spot", { id: "2", folder: "/b/c" })];
    expect(listed([...twins, ...CARDS], "").map((one) => one.where)).toEqual(["turn", "c", "", ""]);
  });

  it("is sorted by any column, what is not known last", () => {
    const cards = [
      card("b", "", "spot", { exploitability: 1.5, unit: "% of pot", modified: 3, iterations: 5 }),
      card("a", "", "spot", { exploitability: 0.2, unit: "% of pot", modified: 1 }),
      card("c", "", "unified", { exploitability: 0.1, unit: "mbb/hand", modified: 2, iterations: 7 }),
      card("d", "", "spot", { exploitability: 0.1, unit: "% of pot", modified: 0, iterations: 6 }),
    ];
    const by = (key: string, down: boolean): string =>
      sortedEntries(listed(cards, ""), { key, down }).map((one) => one.card.name).join("");
    expect(by("name", false)).toBe("abcd");
    expect(by("modified", true)).toBe("bcad");
    expect(by("iterations", true)).toBe("cdba");
    expect(by("exploitability", false)).toBe("dabc"); // what is not certified comes last
    expect(by("kind", true)).toBe("cbad");
  });

  it("tells ages in words", () => {
    expect(age(1000, 1030)).toBe("just now");
    expect(age(1000, 1060)).toBe("1 minute ago");
    expect(age(0, 7300)).toBe("2 hours ago");
    expect(age(0, 86_400 * 3 + 5)).toBe("3 days ago");
    expect(age(2000, 1000)).toBe("just now");
  });
});

describe("folders and copies", () => {
  const solved = { iterations: 45, exploitability: 0.97, unit: "% of pot" };
  const at = (folder: string, modified: number, more: Partial<Card> = {}): Card =>
    card("turn", "AhTd6s3c, pot 100", "spot", { ...solved, id: folder, folder, modified, ...more });

  it("makes one entry of copies, that of the newest", () => {
    const cards = [at("/s/a/turn", 1), at("/s/b/turn_copy", 3), at("/s/c/old", 2)];
    const [entry, ...rest] = listed(cards, "");
    expect(rest).toEqual([]);
    expect(entry?.card.folder).toBe("/s/b/turn_copy");
    expect(entry && copiesText(entry)).toBe("also in old, turn");
    expect(entry?.where).toBe("");
  });

  it("keeps apart what is not the same, or not known to be", () => {
    const cards = [
      at("/s/a", 1),
      at("/s/b", 1, { iterations: 46 }),
      at("/s/c", 1, { exploitability: 0.5 }),
      at("/s/d", 1, { note: "mine" }),
      at("/s/e", 1, { exploitability: null }),
      at("/s/f", 1, { exploitability: null }),
      at("/s/g", 1, { kind: null }),
    ];
    expect(listed(cards, "")).toHaveLength(7);
  });

  it("stands in folders, called from where they part", () => {
    const cards = [
      at("/runs/cash/deep/one", 1, { name: "1" }),
      at("/runs/cash/deep/two", 1, { name: "2" }),
      at("/runs/hu/three", 1, { name: "3" }),
      at("/runs/four", 1, { name: "4" }),
      at("/runs/5e1f/solution", 1, { name: "5" }),
    ];
    const told = byFolder(listed(cards, "")).map(({ name, entries }) => [name, entries.length]);
    expect(told).toEqual([
      ["", 2],
      ["cash/deep", 2],
      ["hu", 1],
    ]);
    expect(byFolder(listed(cards.slice(0, 2), ""))).toHaveLength(1);
    expect(byFolder([])).toEqual([]);
    expect(byFolder(listed([at("C:\\runs\\x\\a", 1)], "")).map(({ name }) => name)).toEqual([""]);
  });
});

import { describe, expect, it } from "vitest";
import { looking, readAddress, reviewing, writeAddress, type Address } from "./address";

function roundTrip(address: Address): Address {
  const url = new URL(writeAddress(address), "http://here");
  return readAddress(url.pathname, url.search);
}

describe("addresses", () => {
  it.each<Address>([
    { page: "home" },
    { page: "solve", id: null },
    { page: "train" },
    { page: "solve", id: "20261115-qsjh2h-1a2b" },
    { page: "practice", id: null },
    { page: "practice", id: "1f0a93c2" },
    reviewing(),
    reviewing("1f0a93c2"),
    reviewing("1f0a93c2", "00ff"),
    reviewing("1f0a93c2", "00ff", 3),
    looking("1f0a93c2"),
    looking("1f0a93c2", "r2.5 c | AhKd7s | x b50%"),
    { ...looking("1f0a93c2", "x"), tab: "cards", mode: "ev", player: "ip", hand: "AKs" },
    { ...looking("1f0a93c2", "x"), mode: "loss", action: "b50%" },
    { ...looking("1f0a93c2", "x"), mode: "difference", compare: "00ff", category: "top pair" },
    { ...looking("1f0a93c2", "c x"), tab: "flops", by: "category" },
    { ...looking("1f0a93c2", "c x"), evs: "hand", cells: "full" },
    { page: "unknown", path: "/nowhere/1" },
  ])("come back as they were written: %o", (address) => {
    expect(roundTrip(address)).toEqual(address);
  });

  it("fall back to what is usual where a word is unknown", () => {
    expect(readAddress("/solution/1f", "?tab=nonsense&mode=&player=me&evs=now&cells=empty")).toEqual(looking("1f"));
    // Nothing is laid beside: there is no difference to be shown.
    expect(readAddress("/solution/1f", "?mode=difference")).toEqual(looking("1f"));
  });

  it("say so where there is no such page", () => {
    for (const path of ["/nowhere/1", "/solution", "/solution/1f/more", "/solve/a/b"])
      expect(readAddress(path, "?line=x")).toEqual({ page: "unknown", path });
    expect(readAddress("/", "")).toEqual({ page: "home" });
  });
});

import { describe, expect, it } from "vitest";
import {
  filledBefore,
  pathOf,
  sharingOf,
  sizeRows,
  spread,
  streetsFrom,
  withField,
  withSize,
  type Sizes,
} from "./sizes";

function sizes(street: (name: string, player: string, kind: string) => string): Sizes {
  const player = (name: string, who: string) => ({
    bet: street(name, who, "bet"),
    raise: street(name, who, "raise"),
    donk: who === "oop" ? street(name, who, "donk") : "",
  });
  const both = (name: string) => ({ oop: player(name, "oop"), ip: player(name, "ip") });
  return { flop: both("flop"), turn: both("turn"), river: both("river") };
}

const EMPTY = sizes(() => "");
const SHARED = { players: true, streets: true };
const APART = { players: false, streets: false };

describe("streets", () => {
  it("begin with the board's", () => {
    expect(streetsFrom(3)).toEqual(["flop", "turn", "river"]);
    expect(streetsFrom(4)).toEqual(["turn", "river"]);
    expect(streetsFrom(5)).toEqual(["river"]);
  });

  it("are all shown while the board is being picked", () => {
    expect(streetsFrom(0)).toEqual(["flop", "turn", "river"]);
    expect(streetsFrom(2)).toEqual(["flop", "turn", "river"]);
  });
});

describe("rows of size fields", () => {
  it("are one where all is shared", () => {
    const [row, ...others] = sizeRows(3, SHARED);
    expect(others).toEqual([]);
    expect(row?.street).toBe("All streets");
    expect(row?.fields[0]?.writes).toHaveLength(6);
    expect(row?.fields[2]?.writes.map(pathOf)).toEqual([
      "sizes.turn.oop.donk",
      "sizes.river.oop.donk",
      "sizes.flop.oop.donk",
    ]);
  });

  it("are one a street and player where nothing is, with a donk for OOP on later streets", () => {
    const rows = sizeRows(4, APART);
    expect(rows.map(({ street, player }) => [street, player])).toEqual([
      ["Turn", "OOP"],
      ["", "IP"],
      ["River", "OOP"],
      ["", "IP"],
    ]);
    expect(rows.map(({ fields }) => fields[2] !== null)).toEqual([false, false, true, false]);
    expect(rows[3]?.fields[1]?.label).toBe("River, IP, raise");
  });

  it("know no donk on a river: nobody bet before", () => {
    expect(sizeRows(5, SHARED).map(({ street, fields }) => [street, fields[2]])).toEqual([
      ["River", null],
    ]);
  });

  it("write every text once, whatever is shared", () => {
    for (const cards of [3, 4, 5]) {
      for (const players of [true, false]) {
        for (const streets of [true, false]) {
          const paths = sizeRows(cards, { players, streets })
            .flatMap(({ fields }) => fields)
            .flatMap((field) => field?.writes.map(pathOf) ?? []);
          expect(new Set(paths).size).toBe(paths.length);
          const bets = paths.filter((path) => path.endsWith(".bet"));
          // Where streets share a field, also those before the board do.
          expect(bets).toHaveLength(streets ? 6 : 2 * streetsFrom(cards).length);
        }
      }
    }
  });
});

describe("sizes", () => {
  it("are written to all that share them", () => {
    const bet = sizeRows(4, SHARED)[0]?.fields[0];
    if (!bet) throw new Error("there is no field");
    const written = withField(EMPTY, bet, "50%");
    expect(written).toEqual(sizes((_, __, kind) => (kind === "bet" ? "50%" : "")));
  });

  it("are spread from what is shown when sharing begins", () => {
    const apart = sizes((street, player, kind) => `${street} ${player} ${kind}`);
    const shared = spread(apart, 3, SHARED);
    expect(shared.river.ip.bet).toBe("flop oop bet");
    expect(shared.river.oop.donk).toBe("turn oop donk");
    const byStreet = spread(apart, 4, { players: true, streets: false });
    expect(byStreet.river.ip.raise).toBe("river oop raise");
    expect(byStreet.flop).toEqual(apart.flop); // not in sight
  });

  it("tell what they share on the streets that are shown", () => {
    expect(sharingOf(EMPTY, 3)).toEqual(SHARED);
    const byStreet = sizes((street, _, kind) => (kind === "donk" ? "" : street));
    expect(sharingOf(byStreet, 3)).toEqual({ players: true, streets: false });
    expect(sharingOf(byStreet, 5)).toEqual(SHARED);
    const byPlayer = sizes((_, player, kind) => (kind === "donk" ? "" : player));
    expect(sharingOf(byPlayer, 4)).toEqual({ players: false, streets: true });
  });

  it("share a donk that the first street does not have", () => {
    const donks = sizes((street, _, kind) => (kind === "donk" && street !== "flop" ? "20%" : ""));
    expect(sharingOf(donks, 3)).toEqual(SHARED);
    expect(spread(donks, 3, SHARED).river.oop.donk).toBe("20%");
  });

  it("of streets before the board begin as those of the board, unless they have some", () => {
    const river = sizes((street, _, kind) => (street === "river" && kind === "bet" ? "75%" : ""));
    expect(filledBefore(river, 5).flop.ip.bet).toBe("75%");
    const two = withSize(river, { street: "turn", player: "ip", kind: "bet" }, "a");
    expect(filledBefore(two, 5).turn).toEqual(two.turn);
    expect(filledBefore(two, 5).flop.oop.bet).toBe("75%");
    expect(filledBefore(river, 3)).toEqual(river);
  });
});

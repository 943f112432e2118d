// Bet sizes as fields: the shown ones, and the texts of the form that each writes.

import type { Schemas } from "../api/client";

export type Sizes = Schemas["SizesForm"];
export type Street = keyof Sizes;
export type Player = keyof Schemas["StreetSizesForm"];
export type Kind = keyof Schemas["PlayerSizesForm"];

export const STREETS: readonly Street[] = ["flop", "turn", "river"];
export const PLAYERS: readonly Player[] = ["oop", "ip"];
export const KINDS: readonly Kind[] = ["bet", "raise", "donk"];

export interface Sharing {
  players: boolean; // both players have the same sizes
  streets: boolean; // all streets have the same sizes
}

/** The place of a text in the form. */
export interface SizePlace {
  street: Street;
  player: Player;
  kind: Kind;
}

/** A field, and all texts that it writes; the first one is what it shows. */
export interface SizeField {
  kind: Kind;
  label: string; // for people who do not see the row: "Turn, IP, raise"
  writes: readonly [SizePlace, ...SizePlace[]];
}

export interface SizeRow {
  street: string; // "Turn", "All streets", "" where the row above says it
  player: string; // "OOP", "" for both
  fields: readonly (SizeField | null)[]; // bet, raise, donk; null: there is none
}

/** The streets that are played on from a board with this number of cards. */
export function streetsFrom(cards: number): readonly Street[] {
  return STREETS.slice(Math.min(2, Math.max(0, cards - 3)));
}

/** How a server names the text in its problems. */
export function pathOf({ street, player, kind }: SizePlace): string {
  return `sizes.${street}.${player}.${kind}`;
}

export function sizeAt(sizes: Sizes, { street, player, kind }: SizePlace): string {
  return sizes[street][player][kind];
}

export function withSize(sizes: Sizes, { street, player, kind }: SizePlace, text: string): Sizes {
  const both = sizes[street];
  return { ...sizes, [street]: { ...both, [player]: { ...both[player], [kind]: text } } };
}

export function withField(sizes: Sizes, field: SizeField, text: string): Sizes {
  return field.writes.reduce((all, place) => withSize(all, place, text), sizes);
}

function title(word: string): string {
  return word[0]?.toUpperCase() + word.slice(1);
}

function field(
  kind: Kind,
  label: string,
  streets: readonly Street[],
  players: readonly Player[],
): SizeField {
  const places = streets.flatMap((street) => players.map((player) => ({ street, player, kind })));
  return { kind, label, writes: places as [SizePlace, ...SizePlace[]] };
}

/** Streets with one field for all of them. */
interface StreetGroup {
  name: string;
  streets: readonly Street[]; // the first one is shown
  later: readonly Street[]; // those on which OOP can lead into a bettor: none on the first street
}

function streetGroups(cards: number, shared: boolean): StreetGroup[] {
  const shown = streetsFrom(cards);
  const later = shown.slice(1);
  if (!shared) {
    return shown.map((street) => ({
      name: title(street),
      streets: [street],
      later: later.filter((one) => one === street),
    }));
  }
  // Streets before the board are written too: a shorter board brings them into sight.
  const before = STREETS.filter((street) => !shown.includes(street));
  const name = later.length > 0 ? "All streets" : title(shown[0] ?? "");
  return [{ name, streets: [...shown, ...before], later }];
}

/** The rows of fields for a board with this number of cards. */
export function sizeRows(cards: number, sharing: Sharing): SizeRow[] {
  const sides = sharing.players ? [PLAYERS] : PLAYERS.map((player) => [player]);
  return streetGroups(cards, sharing.streets).flatMap(({ name, streets, later }) =>
    sides.map((players, side): SizeRow => {
      const who = sharing.players ? "" : (players[0] ?? "").toUpperCase();
      const label = (kind: Kind): string => [name, who, kind].filter(Boolean).join(", ");
      const leads = players.includes("oop") && later.length > 0;
      const others = streets.filter((street) => !later.includes(street));
      return {
        street: side === 0 ? name : "",
        player: who,
        fields: [
          field("bet", label("bet"), streets, players),
          field("raise", label("raise"), streets, players),
          leads ? field("donk", label("donk"), [...later, ...others], ["oop"]) : null,
        ],
      };
    }),
  );
}

function fieldsOf(rows: readonly SizeRow[]): SizeField[] {
  return rows.flatMap((row) => row.fields).filter((one) => one !== null);
}

/** Every shared text gets the text of its field. */
export function spread(sizes: Sizes, cards: number, sharing: Sharing): Sizes {
  return fieldsOf(sizeRows(cards, sharing)).reduce(
    (all, one) => withField(all, one, sizeAt(all, one.writes[0])),
    sizes,
  );
}

/** The sizes in common on the streets of a board: the switches that a form starts with. */
export function sharingOf(sizes: Sizes, cards: number): Sharing {
  const shown = streetsFrom(cards);
  const counts = ({ street, kind }: SizePlace): boolean =>
    (kind === "donk" ? shown.slice(1) : shown).includes(street);
  const same = (sharing: Sharing): boolean =>
    fieldsOf(sizeRows(cards, sharing)).every(({ writes }) => {
      const texts = writes.filter(counts).map((place) => sizeAt(sizes, place));
      return new Set(texts).size <= 1;
    });
  return {
    players: same({ players: true, streets: false }),
    streets: same({ players: false, streets: true }),
  };
}

/** Streets before the board get the sizes of its street where they have none of their own. */
export function filledBefore(sizes: Sizes, cards: number): Sizes {
  const [first] = streetsFrom(cards);
  if (!first) return sizes;
  return STREETS.slice(0, STREETS.indexOf(first)).reduce((all, street) => {
    const empty = PLAYERS.every((player) => KINDS.every((kind) => !all[street][player][kind]));
    return empty ? { ...all, [street]: all[first] } : all;
  }, sizes);
}

// The order of hand categories in their table: each kind keeps to itself.

import type { Schemas } from "../api/client";
import type { PlayerName } from "../app/address";
import { ordered, type Order } from "../report/table";

export type Group = Schemas["HandGroup"];

const KINDS: readonly (readonly [Group["kind"], string])[] = [
  ["starting", "Starting hands"],
  ["made", "Made hands"],
  ["draw", "Draws"],
];

/** The strongest first. */
export const STRONGEST: Order = { key: "name", down: false };

/** What a player holds, kind by kind; `order.key`: "name", "combos", "equity", "ev", or "action 2". */
export function kindsOf(
  groups: readonly Group[],
  player: PlayerName,
  order: Order = STRONGEST,
): { kind: Group["kind"]; title: string; groups: Group[] }[] {
  const [what, at] = order.key.split(" ");
  const value = (group: Group): number | null => {
    if (what === "action") return group.frequencies[Number(at)] ?? null;
    if (what === "combos") return group.combos[player] ?? null;
    if (what === "ev") return group.evs[player] ?? null;
    if (what === "equity") return group.equities[player] ?? null;
    return groups.indexOf(group);
  };
  const held = groups.filter((group) => (group.combos[player] ?? 0) > 0);
  return KINDS.map(([kind, title]) => {
    const own = held.filter((group) => group.kind === kind);
    return { kind, title, groups: ordered(own, value, order.down) };
  }).filter((kind) => kind.groups.length);
}

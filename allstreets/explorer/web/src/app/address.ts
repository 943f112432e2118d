// The contents of the address bar: the page, the solution, the node in it.

export type Tab = "strategy" | "equity" | "cards" | "flops" | "about";
export type Mode = "strategy" | "ev" | "loss" | "equity" | "eqr" | "reach" | "difference";
export type PlayerName = "oop" | "ip";

export const TABS: readonly Tab[] = ["strategy", "equity", "cards", "flops", "about"];
const PLAIN: readonly Mode[] = ["strategy", "ev", "loss", "equity", "eqr", "reach"];

/** What the grid can show; how much hands differ where another solution is laid beside. */
export function modesOf(compare: string | null): readonly Mode[] {
  return compare === null ? PLAIN : [...PLAIN, "difference"];
}

export interface Home {
  page: "home";
}
export interface SolvePage {
  page: "solve";
  id: string | null; // of a solve; null: the form
}
export interface PracticePage {
  page: "practice";
  id: string | null; // of the solution that is chosen
}
export interface ReviewPage {
  page: "review";
  id: string | null; // of a review; null: all of them
  hand: string | null; // that is replayed
  at: number | null; // the step of it; null: the costliest decision
}
export interface Looking {
  page: "solution";
  id: string;
  line: string;
  tab: Tab;
  mode: Mode;
  player: PlayerName | null; // null: the one who acts
  hand: string | null; // the cell that is held open
  action: string | null; // whose EVs the grid shows; null: those of the strategy
  category: string | null; // of hands: all others are dimmed in the grid
  cells: "full" | null; // however seldom a hand gets here; null: as high as it does
  compare: string | null; // the solution that is laid beside this one
  by: string | null; // how flops are shown; null: each in a table
  evs: "hand" | null; // EVs over the whole hand; null: from here on
}
export interface Unknown {
  page: "unknown";
  path: string;
}
export interface TrainPage {
  page: "train";
}
export type Address =
  | Home
  | SolvePage
  | TrainPage
  | PracticePage
  | ReviewPage
  | Looking
  | Unknown;

export function looking(id: string, line = ""): Looking {
  return {
    page: "solution",
    id,
    line,
    tab: "strategy",
    mode: "strategy",
    player: null,
    hand: null,
    action: null,
    category: null,
    cells: null,
    compare: null,
    by: null,
    evs: null,
  };
}

export function reviewing(
  id: string | null = null,
  hand: string | null = null,
  at: number | null = null,
): ReviewPage {
  return { page: "review", id, hand, at };
}

export function readAddress(path: string, search: string): Address {
  const [page, id, ...rest] = path.split("/").filter(Boolean);
  if (page === undefined) return { page: "home" };
  if (page === "solve" && !rest.length) return { page: "solve", id: id ?? null };
  if (page === "train" && id === undefined) return { page: "train" };
  if (page === "practice" && !rest.length) return { page: "practice", id: id ?? null };
  if (page === "review" && rest.length < 2) {
    const at = new URLSearchParams(search).get("at") ?? "";
    return reviewing(id ?? null, rest[0] ?? null, /^\d+$/.test(at) ? Number(at) : null);
  }
  if (page !== "solution" || !id || rest.length) return { page: "unknown", path };
  const query = new URLSearchParams(search);
  const [player, compare] = [query.get("player"), query.get("compare")];
  return {
    page: "solution",
    id,
    line: query.get("line") ?? "",
    tab: TABS.find((tab) => tab === query.get("tab")) ?? "strategy",
    mode: modesOf(compare).find((mode) => mode === query.get("mode")) ?? "strategy",
    player: player === "oop" || player === "ip" ? player : null,
    hand: query.get("hand"),
    action: query.get("action"),
    category: query.get("category"),
    cells: query.get("cells") === "full" ? "full" : null,
    compare,
    by: query.get("by"),
    evs: query.get("evs") === "hand" ? "hand" : null,
  };
}

/** The opposite of `readAddress`; defaults are left out. */
export function writeAddress(address: Address): string {
  if (address.page === "home") return "/";
  if (address.page === "train") return "/train";
  if (address.page === "unknown") return address.path;
  if (address.page === "solve") return address.id ? `/solve/${address.id}` : "/solve";
  if (address.page === "practice") return address.id ? `/practice/${address.id}` : "/practice";
  if (address.page === "review") {
    const parts = ["/review", address.id, address.hand].filter((part) => part !== null);
    return parts.join("/") + (address.at === null ? "" : `?at=${address.at}`);
  }
  const query = new URLSearchParams();
  if (address.line) query.set("line", address.line);
  if (address.tab !== "strategy") query.set("tab", address.tab);
  if (address.mode !== "strategy") query.set("mode", address.mode);
  if (address.player) query.set("player", address.player);
  if (address.hand) query.set("hand", address.hand);
  if (address.action) query.set("action", address.action);
  if (address.category) query.set("category", address.category);
  if (address.cells) query.set("cells", address.cells);
  if (address.compare) query.set("compare", address.compare);
  if (address.by) query.set("by", address.by);
  if (address.evs) query.set("evs", address.evs);
  const text = query.toString();
  return `/solution/${address.id}${text ? `?${text}` : ""}`;
}

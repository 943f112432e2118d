// A game as in the form, and its training file.

import type { Schemas } from "../api/client";

export const FORMATS = ["tournament", "cash", "push"] as const;
export type Format = (typeof FORMATS)[number];
export const ANTES = ["none", "each", "bb"] as const;
export type Ante = (typeof ANTES)[number];
export const QUALITIES = ["quick", "good", "best"] as const;
export type Quality = (typeof QUALITIES)[number];

export interface GameDraft {
  format: Format;
  stack: string; // big blinds, as all amounts
  antes: Ante;
  ante: string;
  rake: string; // % of the pot
  rakeCap: string;
  limp: boolean;
  open: string;
  overLimp: string;
  threeBet: string;
  bet: string;
  raises: boolean;
}

export const FIRST: GameDraft = {
  format: "tournament",
  stack: "20",
  antes: "none",
  ante: "1",
  rake: "5",
  rakeCap: "1",
  limp: true,
  open: "2.5",
  overLimp: "3",
  threeBet: "3",
  bet: "100%",
  raises: false,
};

/** The training file of a game: one that `allstreets train` reads. */
export function fileOf(draft: GameDraft, quality: Quality): string {
  const push = draft.format === "push";
  const lines: [string, string | null][] = [
    ["type", "unified_cfr"],
    ["stack_depth", value(draft.stack)],
    ["ante", draft.antes === "each" ? value(draft.ante) : null],
    ["bb_ante", draft.antes === "bb" ? value(draft.ante) : null],
    ["rake", draft.format === "cash" ? value(`${draft.rake.trim()}%`) : null],
    ["rake_cap", draft.format === "cash" && draft.rakeCap.trim() ? value(draft.rakeCap) : null],
    ["limp", push ? "false" : String(draft.limp)],
    ["raise_sizes", push ? "[]" : raiseSizes(draft)],
    ["postflop_bet_sizes", push ? null : list(draft.bet)],
    ["max_raises_per_street", push ? null : draft.raises ? "1" : "0"],
    ["quality", push ? null : quality],
    ["flops", push ? "spread_1" : null], // none is seen
    ["epochs", push ? "3000" : null],
    ["exploitability_threshold", push ? "0.0001" : null],
  ];
  const keys = lines.flatMap(([key, text]) => (text === null ? [] : [`  ${key}: ${text}`]));
  return [`name: ${JSON.stringify(nameOf(draft))}`, "solver:", ...keys, ""].join("\n");
}

/** The name of the game: "20 bb, ante 1, open 2.5". */
export function nameOf(draft: GameDraft): string {
  const { format, stack, antes, ante, rake } = draft;
  const parts = [`${stack.trim()} bb`];
  if (antes === "each") parts.push(`antes ${ante.trim()}`);
  if (antes === "bb") parts.push(`BB ante ${ante.trim()}`);
  if (format === "cash") parts.push(`rake ${rake.trim()}%`);
  parts.push(format === "push" ? "push or fold" : `open ${draft.open.trim() || "all-in"}`);
  return parts.join(", ");
}

function raiseSizes(draft: GameDraft): string {
  const named: [string, string][] = [["open", draft.open]];
  if (draft.limp) named.push(["over_limp", draft.overLimp]);
  named.push(["3bet", draft.threeBet]);
  const given = named.filter(([, sizes]) => sizes.trim());
  return given.length === 0 ? "[]" : `{${given.map(([key, at]) => `${key}: ${list(at)}`).join(", ")}}`;
}

/** Sizes as they are written in a field, as a list of YAML: "2, 2.5x" is [2, "2.5x"]. */
export function list(text: string): string {
  const sizes = text.split(/[,;\s]+/).filter(Boolean);
  return `[${sizes.map(value).join(", ")}]`;
}

/** A number, or text that the server reads and judges. */
function value(text: string): string {
  const bare = text.trim();
  return /^\d+(\.\d+)?$/.test(bare) ? bare : JSON.stringify(bare);
}

type Problem = Schemas["Problem"];
const KEYS: readonly [keyof GameDraft, RegExp][] = [
  ["stack", /^solver\.stack_depth/],
  ["ante", /^solver\.(bb_)?ante/],
  ["rakeCap", /^solver\.rake_cap/],
  ["rake", /^solver\.rake$/],
  ["limp", /^solver\.limp/],
  ["overLimp", /^solver\.raise_sizes\.over_limp/],
  ["threeBet", /^solver\.raise_sizes\.3bet/],
  ["open", /^solver\.raise_sizes/],
  ["bet", /^solver\.postflop_bet_sizes/],
];

/** The field of the form that a problem belongs to; null: the whole game. */
export function fieldOf(problem: Problem): keyof GameDraft | null {
  return KEYS.find(([, pattern]) => pattern.test(problem.field ?? ""))?.[0] ?? null;
}

/** The problem of a field, without line and key of a file that the user does not see. */
export function problemOf(problems: readonly Problem[], field: keyof GameDraft): string | null {
  const wrong = problems.find((problem) => fieldOf(problem) === field);
  return wrong ? wrong.message.replace(/^(line \d+: )?[\w.[\]]+: /, "") : null;
}

/** A draft from the browser's storage; missing or odd values get their defaults. */
export function draftOf(text: string | null): GameDraft {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "{}");
  } catch {
    kept = {};
  }
  const fields = Object.entries(FIRST).map(([key, usual]) => {
    const given: unknown = (kept as Record<string, unknown> | null)?.[key];
    return [key, typeof given === typeof usual ? given : usual];
  });
  const draft = Object.fromEntries(fields) as unknown as GameDraft;
  return {
    ...draft,
    format: FORMATS.includes(draft.format) ? draft.format : FIRST.format,
    antes: ANTES.includes(draft.antes) ? draft.antes : FIRST.antes,
  };
}

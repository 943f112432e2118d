// The notations of ranges that the server writes; it recognises each of them when it reads.

import type { Schemas } from "../api/client";

export type RangeKind = Schemas["RangeKind"];

export const KINDS: readonly { kind: RangeKind; label: string; hint: string }[] = [
  { kind: "pio", label: "PioSOLVER", hint: "AA,AKs:0.5,AhQd: most programs read it" },
  { kind: "pio-1326", label: "PioSOLVER, numbers", hint: "1,326 numbers for set_range" },
  { kind: "gto+", label: "GTO+", hint: "AA-QQ,[50]AKs[/50]" },
  { kind: "monker", label: "MonkerSolver", hint: "an .rng file" },
  { kind: "json", label: "JSON", hint: '{"AA": 1, "AKs": 0.5}' },
  { kind: "csv", label: "CSV", hint: "hand,weight" },
  { kind: "text", label: "Shortest text", hint: "QQ+,AKs:0.5" },
];

export function kindLabel(kind: RangeKind): string {
  return KINDS.find((one) => one.kind === kind)?.label ?? kind;
}

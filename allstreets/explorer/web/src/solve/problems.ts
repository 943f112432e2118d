// Where problems are shown: beside the field that they name, if it is shown.

import type { Problem } from "./draft";
import { pathOf, type SizeField, type SizeRow } from "./sizes";

/** The problem of a field; null: none. */
export function problemAt(problems: readonly Problem[], ...paths: string[]): string | null {
  // A field that writes many texts is told the same of each: the first word is enough.
  const here = problems.find(({ field }) => field && paths.includes(field));
  return here ? withoutPath(here.message, here.field ?? "") : null;
}

/** As `problemAt`, for a field that writes many texts. */
export function problemAtSize(problems: readonly Problem[], field: SizeField): string | null {
  return problemAt(problems, ...field.writes.map(pathOf));
}

/** Beside its field a message need not name the path: "pot: too small" → "too small". */
function withoutPath(message: string, path: string): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

/** Problems without those that a shared size field has told already. */
export function withoutRepeats(problems: readonly Problem[], rows: readonly SizeRow[]): Problem[] {
  const told = new Set<string>();
  const fields = rows.flatMap((row) => row.fields);
  return problems.filter(({ field: path }) => {
    const field = fields.find((one) => one?.writes.some((place) => pathOf(place) === path));
    if (!field) return true;
    const seen = told.has(field.label);
    told.add(field.label);
    return !seen;
  });
}

/** The reason why a spot cannot be solved yet, in one line; null: it can. */
export function reasonNot(problems: readonly Problem[]): string | null {
  const [first] = problems;
  if (!first) return null;
  const more = problems.length - 1;
  const line = first.message.split("\n")[0] ?? "";
  return more > 0 ? `${line} (and ${more} more)` : line;
}

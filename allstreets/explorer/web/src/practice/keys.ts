// The keys while hands are played.

import type { Pressed } from "../place/keys";

export type Command = { kind: "on" | "finish" | "hint" } | { kind: "take"; action: number };

export const HELP =
  "Each action has its keys beside it; Enter or Space continues; h shows a hint; q ends.";

/** Whether a key may be a command, whatever is asked when its turn comes. */
export function mayCommand(pressed: Pressed): boolean {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return false;
  return /^(Enter|[ 1-9fxcbraqh])$/i.test(pressed.key);
}

/** The command of a key, `words` being the actions that are offered; null: none. */
export function commandOf(pressed: Pressed, words: readonly string[]): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  if (key === "Enter" || key === " ") return { kind: "on" };
  if (key === "q") return { kind: "finish" };
  if (key === "h") return { kind: "hint" };
  const action = actionOf(key, words);
  return action === null ? null : { kind: "take", action };
}

/** The keys that take an action: its number, and its letter where no other action has it. */
export function keysOf(place: number, words: readonly string[]): string[] {
  const letter = words[place]?.[0] ?? "";
  const number = place < 9 ? [String(place + 1)] : [];
  return actionOf(letter, words) === place ? [...number, letter] : number;
}

/** The action that a number stands for, or a letter that only one action begins with. */
function actionOf(key: string, words: readonly string[]): number | null {
  if (/^[1-9]$/.test(key)) return Number(key) <= words.length ? Number(key) - 1 : null;
  if (!/^[fxcbra]$/.test(key)) return null;
  const found = words.flatMap((word, place) => (word.startsWith(key) ? [place] : []));
  return found.length === 1 ? (found[0] ?? null) : null;
}

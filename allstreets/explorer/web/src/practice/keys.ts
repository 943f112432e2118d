// What keys do while hands are played.

import type { Pressed } from "../place/keys";

export type Command = { kind: "on" | "finish" } | { kind: "take"; action: number };

export const HELP =
  "1 – 9 or f, x, c, b, r, a take an action; Enter or Space goes on; q ends the session.";

/** Whether a key may be a command, whatever is asked when its turn comes. */
export function mayCommand(pressed: Pressed): boolean {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return false;
  return /^(Enter|[ 1-9fxcbraq])$/i.test(pressed.key);
}

/** The command of a key, `words` being the actions that are offered; null: none. */
export function commandOf(pressed: Pressed, words: readonly string[]): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  const key = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  if (key === "Enter" || key === " ") return { kind: "on" };
  if (key === "q") return { kind: "finish" };
  const action = actionOf(key, words);
  return action === null ? null : { kind: "take", action };
}

/** The action that a number stands for, or a letter that only one action begins with. */
function actionOf(key: string, words: readonly string[]): number | null {
  if (/^[1-9]$/.test(key)) return Number(key) <= words.length ? Number(key) - 1 : null;
  if (!/^[fxcbra]$/.test(key)) return null;
  const found = words.flatMap((word, place) => (word.startsWith(key) ? [place] : []));
  return found.length === 1 ? (found[0] ?? null) : null;
}

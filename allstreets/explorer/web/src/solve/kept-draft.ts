// The draft that the browser keeps between visits.

import { keep, kept } from "../common/kept";
import type { Draft } from "./draft";

const KEY = "spot-draft";

/** Whether something has the shape of something else: an older page may have kept another one. */
export function isLike(value: unknown, model: unknown): boolean {
  if (typeof model !== "object" || model === null) return typeof value === typeof model;
  if (typeof value !== "object" || value === null) return false;
  const keys = Object.keys(model);
  return (
    keys.length === Object.keys(value).length &&
    keys.every((key) =>
      isLike((value as Record<string, unknown>)[key], (model as Record<string, unknown>)[key]),
    )
  );
}

/** A draft that was written out; null if it is none, or of another shape than `model`. */
export function readDraft(text: string | null, model: Draft): Draft | null {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isLike(value, model) ? (value as Draft) : null;
  } catch {
    return null;
  }
}

export function keptDraft(model: Draft): Draft | null {
  return readDraft(kept(KEY), model);
}

export function keepDraft(draft: Draft): void {
  keep(KEY, JSON.stringify(draft));
}

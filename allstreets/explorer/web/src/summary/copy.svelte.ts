// A range to the clipboard, in the notation of any program.

import { get, post, type Schemas } from "../api/client";
import type { PlayerName } from "../app/address";
import { Asked } from "../common/asked.svelte";
import { plain } from "../common/format";
import { keep, kept } from "../common/kept";
import { KINDS, kindLabel, type RangeKind } from "../ranges/kinds";

const KEY = "range-kind";

export interface Wanted {
  solution: string;
  line: string;
  player: PlayerName;
  action: string | null; // its word; null: the whole range
  title: string; // for people: "BB: bet 50 %"
}

export class Copier {
  /** A note on the last copy, shown for a moment. */
  message = $state("");
  /** A text that the browser refused: it is shown, to be copied by hand. */
  shown: { title: string; text: string } | null = $state.raw(null);

  private readonly asked = new Asked<Schemas["RangeText"]>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The notation that was chosen last, on this visit or before. */
  kind: RangeKind = $state(KINDS.find((one) => one.kind === kept(KEY))?.kind ?? "pio");

  /** A range of a solution, in the notation that was chosen last. */
  copy({ solution, line, player, action, title }: Wanted): Promise<void> {
    const query = { line, player, action, kind: this.kind };
    return this.take(title, (signal) =>
      get("/api/solutions/{solution}/range", { path: { solution }, query, signal }),
    );
  }

  /** A range that is written out, in another notation. */
  copyText(text: string, title: string): Promise<void> {
    const body = { text, kind: this.kind };
    return this.take(title, (signal) => post("/api/range/text", { body, signal }));
  }

  /** Choose a notation; it stays until another one is chosen. */
  choose(kind: RangeKind): void {
    this.kind = kind;
    keep(KEY, kind);
  }

  private async take(
    title: string,
    question: (signal: AbortSignal) => Promise<Schemas["RangeText"]>,
  ): Promise<void> {
    const words = `${title} as ${kindLabel(this.kind)}`;
    const outcome = await this.asked.again(question);
    const { value: range, error } = this.asked;
    if (outcome === "refused" && error) this.say(error.message);
    if (outcome !== "answered" || !range) return;
    if (await taken(range.text)) this.say(`Copied ${words}: ${plain(range.combos, 1)} combos`);
    else this.shown = { title: words, text: range.text };
  }

  close(): void {
    this.shown = null;
  }

  /** Show a note for a moment, or until the next one. */
  say(message: string, stays = false): void {
    this.message = message;
    clearTimeout(this.timer);
    if (!stays) this.timer = setTimeout(() => (this.message = ""), 4000);
  }
}

/** Whether the clipboard has taken a text: a browser may refuse, or have none. */
async function taken(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export const copier = new Copier();

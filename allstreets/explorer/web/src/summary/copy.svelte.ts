// A range as text, to the clipboard.

import { get, RefusedError } from "../api/client";
import type { PlayerName } from "../app/address";
import { plain } from "../common/format";

export interface Wanted {
  solution: string;
  line: string;
  player: PlayerName;
  action: string | null; // its word; null: the whole range
  title: string; // for people: "BB: bet 50 %"
}

class Copier {
  /** What has just happened, for a moment. */
  message = $state("");
  /** A text that the browser would not take: it is shown, to be copied by hand. */
  shown: { title: string; text: string } | null = $state.raw(null);

  private timer: ReturnType<typeof setTimeout> | undefined;

  async copy({ solution, line, player, action, title }: Wanted): Promise<void> {
    try {
      const range = await get("/api/solutions/{solution}/range", {
        path: { solution },
        query: { line, player, action },
      });
      if (await taken(range.text)) this.say(`Copied ${title}: ${plain(range.combos, 1)} combos`);
      else this.shown = { title, text: range.text };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.say(error.message);
    }
  }

  close(): void {
    this.shown = null;
  }

  private say(message: string): void {
    this.message = message;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.message = ""), 4000);
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

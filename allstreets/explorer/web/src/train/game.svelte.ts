// The training file that is being written, what the server thinks of it, and how it is sent.

import { get, post, RefusedError, type Schemas } from "../api/client";
import { keep, kept } from "../common/kept";

const KEY = "training-file";
const PAUSE = 400; // milliseconds without a change before the server is asked

class Trainer {
  text = $state(kept(KEY) ?? "");
  samples: readonly Schemas["SampleGame"][] = $state.raw([]);
  estimate: Schemas["GameEstimate"] | null = $state.raw(null);
  asking = $state(false); // the estimate is not yet that of the text
  sending = $state(false);
  refusal = $state("");

  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | null = null;

  /** Begin with what was written last, or with the first sample. */
  async load(): Promise<void> {
    try {
      this.samples = await get("/api/games/samples");
      this.refusal = "";
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.write(this.text.trim() ? this.text : (this.samples[0]?.text ?? ""));
  }

  /** Another text: it is kept, and measured when nobody types. */
  write(text: string): void {
    this.text = text;
    this.refusal = "";
    keep(KEY, text);
    clearTimeout(this.timer);
    this.request?.abort();
    this.asking = true;
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  /** Send it; the id of its solve, or null where it was refused. */
  async start(): Promise<string | null> {
    this.sending = true;
    this.refusal = "";
    try {
      return (await post("/api/games", { body: { text: this.text } })).id;
    } catch (error) {
      this.refuse(error);
      return null;
    } finally {
      this.sending = false;
    }
  }

  private async ask(): Promise<void> {
    const request = new AbortController();
    this.request = request;
    try {
      this.estimate = await post("/api/games/estimate", {
        body: { text: this.text },
        signal: request.signal,
      });
    } catch (error) {
      if (request.signal.aborted) return;
      this.refuse(error);
    }
    this.asking = false;
  }

  private refuse(error: unknown): void {
    if (!(error instanceof RefusedError)) throw error;
    this.refusal = error.message;
  }
}

/** There is one text: it is still there when one comes back from a solve. */
export const trainer = new Trainer();

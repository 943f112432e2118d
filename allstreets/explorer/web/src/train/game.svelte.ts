// The training file in the editor, the server's estimate of it, and sending it.

import { get, post, RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { keep, kept } from "../common/kept";
import { GameForm } from "./form.svelte";

const KEY = "training-file";
const PAUSE = 400; // milliseconds without a change before the server is asked

export class Trainer {
  text = $state(kept(KEY) ?? "");
  samples: readonly Schemas["SampleGame"][] = $state.raw([]);
  asking = $state(false); // the estimate is not yet that of the text
  sending = $state(false);
  refusal = $state("");

  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Asked<Schemas["GameEstimate"]>();

  get estimate(): Schemas["GameEstimate"] | null {
    return this.asked.value;
  }

  /** Start with the last draft, if there is one; else with the form's file. */
  async load(): Promise<void> {
    try {
      this.samples = await get("/api/games/samples");
      this.refusal = "";
    } catch (error) {
      this.refuse(error);
      return;
    }
    if (this.text.trim()) this.write(this.text);
  }

  /** Another text: it is kept, and measured after a pause in typing. */
  write(text: string): void {
    this.text = text;
    this.refusal = "";
    keep(KEY, text);
    clearTimeout(this.timer);
    this.asked.drop();
    this.asking = true;
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  /** Send a training file; the id of its solve, or null where it was refused. */
  async start(text: string): Promise<string | null> {
    this.sending = true;
    this.refusal = "";
    try {
      return (await post("/api/games", { body: { text } })).id;
    } catch (error) {
      this.refuse(error);
      return null;
    } finally {
      this.sending = false;
    }
  }

  private async ask(): Promise<void> {
    const body = { text: this.text };
    const outcome = await this.asked.again((signal) =>
      post("/api/games/estimate", { body, signal }),
    );
    if (outcome === "dropped") return;
    if (outcome === "refused") this.refusal = this.asked.error?.message ?? "";
    this.asking = false;
  }

  private refuse(error: unknown): void {
    if (!(error instanceof RefusedError)) throw error;
    this.refusal = error.message;
  }
}

/** There is one text and one form: they are still there after a solve. */
export const trainer = new Trainer();
export const form = new GameForm();

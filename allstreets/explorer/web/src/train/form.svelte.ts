// The form of a game, and the cost of each quality.

import { post, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { keep, kept } from "../common/kept";
import { draftOf, fileOf, type GameDraft, type Quality } from "./draft";

const KEY = "training-form";
const PAUSE = 400; // milliseconds without a change before the server is asked

type Estimate = Schemas["GameEstimate"];
type Estimates = Readonly<Record<Quality, Estimate>>;

export class GameForm {
  draft: GameDraft = $state.raw(draftOf(kept(KEY)));
  quality: Quality = $state("good");
  asking = $state(false); // the estimates are not yet those of the form

  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Asked<Estimates>();

  get estimates(): Estimates | null {
    return this.asked.value;
  }

  get refusal(): string {
    return this.asked.error?.message ?? "";
  }

  /** The problems of the game as it would be trained. */
  get problems(): readonly Schemas["Problem"][] {
    return this.estimates?.[this.quality].problems ?? [];
  }

  get file(): string {
    return fileOf(this.draft, this.quality);
  }

  change(fields: Partial<GameDraft>): void {
    this.draft = { ...this.draft, ...fields };
    keep(KEY, JSON.stringify(this.draft));
    this.measure(PAUSE);
  }

  /** Ask for the cost of the game after a pause in typing. */
  measure(pause = 0): void {
    clearTimeout(this.timer);
    this.asked.drop();
    this.asking = true;
    this.timer = setTimeout(() => void this.ask(), pause);
  }

  private async ask(): Promise<void> {
    const { draft } = this;
    const outcome = await this.asked.again(async (signal) => {
      const of = (quality: Quality): Promise<Estimate> =>
        post("/api/games/estimate", { body: { text: fileOf(draft, quality) }, signal });
      const [quick, good, best] = await Promise.all([of("quick"), of("good"), of("best")]);
      return { quick, good, best };
    });
    if (outcome !== "dropped") this.asking = false;
  }
}

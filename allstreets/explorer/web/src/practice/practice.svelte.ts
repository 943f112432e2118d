// A practice session on the page: a decision, its cost, and the next one.

import { get, post, type RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import type { Pressed } from "../place/keys";
import { Queue } from "../place/queue";
import { commandOf } from "./keys";

export type Form = Schemas["PracticeForm"];
export type State = Schemas["PracticeState"];

export class Practice {
  looking = $state(false); // at what the last decision cost
  finished = $state(false);
  hinted = $state(false); // whether the hint of the question is shown
  last: Schemas["PracticeQuestion"] | null = $state.raw(null); // the question that was answered

  private readonly asked = new Asked<State>();
  // Keys that are pressed while an answer is on its way are meant for what it brings.
  private readonly keys = new Queue<Pressed>(
    () => !this.busy,
    (pressed) => void this.obey(pressed),
  );

  get state(): State | null {
    return this.asked.value;
  }

  get error(): RefusedError | null {
    return this.asked.error;
  }

  get busy(): boolean {
    return this.asked.loading;
  }

  /** The current question; null: an answer is shown, or the hand is over. */
  get question(): Schemas["PracticeQuestion"] | null {
    return this.looking || this.finished ? null : (this.state?.question ?? null);
  }

  begin(form: Form): Promise<void> {
    return this.run(
      () => post("/api/practice/sessions", { body: form }),
      () => (this.looking = this.finished = false),
    );
  }

  answer(action: number): Promise<void> {
    const { question, state } = this;
    if (!state || !question || action >= question.actions.length) return Promise.resolve();
    const [path, body] = [{ session: state.session }, { question: question.number, action }];
    return this.run(
      () => post("/api/practice/sessions/{session}/answers", { path, body }),
      () => {
        this.looking = true;
        this.hinted = false;
        this.last = question;
      },
    );
  }

  /** From the cost of a decision to the next one, to the end of the hand, to the next hand. */
  on(): Promise<void> {
    if (this.finished || !this.state) return Promise.resolve();
    if (this.looking && this.state.question) {
      this.looking = false;
      return Promise.resolve();
    }
    if (!this.state.end) return Promise.resolve();
    const path = { session: this.state.session };
    return this.run(
      () => post("/api/practice/sessions/{session}/hands", { path }),
      () => (this.looking = false),
    );
  }

  /** Show the last mistake at this decision, if it is a repetition. */
  hint(): void {
    if (this.question?.hint) this.hinted = true;
  }

  finish(): void {
    if (this.state) this.finished = true;
    this.keys.clear();
  }

  /** Back to the choice of decisions. */
  leave(): void {
    this.asked.forget();
    this.keys.clear();
    this.looking = this.finished = false;
  }

  /** A key: its effect is known when all earlier keys are done. */
  press(pressed: Pressed): void {
    this.keys.push(pressed);
  }

  private obey(pressed: Pressed): Promise<void> {
    const words = this.question?.actions.map((action) => action.word) ?? [];
    const command = commandOf(pressed, words);
    if (command?.kind === "take") return this.answer(command.action);
    if (command?.kind === "on") return this.on();
    if (command?.kind === "hint") this.hint();
    if (command?.kind === "finish") this.finish();
    return Promise.resolve();
  }

  private async run(request: () => Promise<State>, then: () => unknown): Promise<void> {
    if (this.busy) return; // buttons wait
    const outcome = await this.asked.again(request);
    if (outcome === "dropped") return;
    if (outcome === "answered") then();
    else this.keys.clear(); // what they were meant for has not come
    this.keys.go();
  }
}

/** The one session of this page: it stays when another page is opened in between. */
export const practice = new Practice();

/** The stored results of one solution, or of all of them (""). */
export function results(
  solution: string,
  signal: AbortSignal,
): Promise<Schemas["PracticeResults"]> {
  return get("/api/practice/results", { query: { solution: solution || null }, signal });
}

// A question whose answer is shown: the answer to the latest question wins, in any order of
// arrival.

import { RefusedError } from "../api/client";

/** The fate of a question; dropped: another one was asked before its answer came. */
export type Outcome = "answered" | "refused" | "dropped";

type Question<T> = (signal: AbortSignal, show: (value: T) => void) => Promise<T>;

/** The answer to the latest question; the one before it stays until the new one has come. */
export class Asked<T> {
  value: T | null = $state.raw(null);
  error: RefusedError | null = $state.raw(null);
  loading = $state(false);

  private answered: string | null = $state(null); // the question whose answer the value is
  private asked: string | null = null;
  private running: AbortController | null = null;

  /**
   * Ask, unless the same was asked last. An older question that is still open is dropped.
   * A question may show a partial answer before it is complete.
   */
  async ask(key: string, question: Question<T>): Promise<Outcome> {
    if (key === this.asked) return "dropped";
    this.drop();
    this.asked = key;
    const running = new AbortController();
    this.running = running;
    this.loading = true;
    const show = (value: T): void => {
      if (running.signal.aborted) return;
      this.value = value;
      this.answered = key;
      this.error = null;
    };
    try {
      show(await question(running.signal, show));
      return running.signal.aborted ? "dropped" : "answered";
    } catch (error) {
      if (running.signal.aborted) return "dropped";
      if (!(error instanceof RefusedError)) throw error;
      this.asked = null; // so that it can be asked again
      this.error = error;
      return "refused";
    } finally {
      if (this.running === running) this.loading = false;
    }
  }

  /** Ask, although the same may have been asked last. */
  again(question: Question<T>): Promise<Outcome> {
    this.drop();
    return this.ask("", question);
  }

  /** The answer to this question; null while only that to another one is there. */
  answerTo(key: string): T | null {
    return this.answered === key ? this.value : null;
  }

  /** Take an answer that is known already. */
  accept(key: string, value: T): void {
    this.drop();
    this.asked = this.answered = key;
    this.value = value;
    this.error = null;
  }

  /** Drop a question that is still open. */
  drop(): void {
    this.running?.abort();
    this.running = null;
    this.loading = false;
    this.asked = null;
  }

  /** Drop the answer too. */
  forget(): void {
    this.drop();
    this.value = null;
    this.answered = null;
    this.error = null;
  }
}

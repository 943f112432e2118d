// A question to the server whose answer is shown.

import { RefusedError } from "../api/client";

/** The answer to the latest question; the one before it stays until the new one has come. */
export class Asked<T> {
  value: T | null = $state.raw(null);
  error: RefusedError | null = $state.raw(null);
  loading = $state(false);

  private asked: string | null = null;
  private running: AbortController | null = null;

  /**
   * Ask, unless the same was asked last. An older question that is still open is dropped.
   * A question may show what is known of its answer before it is complete.
   */
  async ask(
    key: string,
    question: (signal: AbortSignal, show: (value: T) => void) => Promise<T>,
  ): Promise<void> {
    if (key === this.asked) return;
    this.drop();
    this.asked = key;
    const running = new AbortController();
    this.running = running;
    this.loading = true;
    const show = (value: T): void => {
      if (running.signal.aborted) return;
      this.value = value;
      this.error = null;
    };
    try {
      show(await question(running.signal, show));
    } catch (error) {
      if (running.signal.aborted) return;
      if (!(error instanceof RefusedError)) throw error;
      this.asked = null; // so that it can be asked again
      this.error = error;
    } finally {
      if (this.running === running) this.loading = false;
    }
  }

  /** Take an answer that is known already. */
  accept(key: string, value: T): void {
    this.drop();
    this.asked = key;
    this.value = value;
    this.error = null;
  }

  /** Let go of a question that is still open. */
  drop(): void {
    this.running?.abort();
    this.running = null;
    this.loading = false;
    this.asked = null;
  }
}

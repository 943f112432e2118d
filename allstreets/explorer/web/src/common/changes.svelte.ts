// Requests that change something on the server: one after the other, in the order of the clicks.

import { RefusedError } from "../api/client";

export class Changes {
  /** The reason why the last one was refused. */
  refusal: RefusedError | null = $state.raw(null);

  private last: Promise<unknown> = Promise.resolve();

  /** Make a change after the earlier ones; return whether it was made. */
  make(change: () => Promise<unknown>): Promise<boolean> {
    const made = this.last.then(() => this.run(change));
    this.last = made.catch(() => undefined);
    return made;
  }

  private async run(change: () => Promise<unknown>): Promise<boolean> {
    this.refusal = null;
    try {
      await change();
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.refusal = error;
      return false;
    }
  }
}

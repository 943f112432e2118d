// The number of awaited answers of the server: a page that waits shows that it works.

export class Waiting {
  count = $state(0);

  private open = 0; // the same: an effect that asks must not depend on who else does

  /** What a promise becomes; until then it counts as awaited. */
  async for<T>(answer: Promise<T>): Promise<T> {
    this.count = ++this.open;
    try {
      return await answer;
    } finally {
      this.count = --this.open;
    }
  }
}

export const waiting = new Waiting();

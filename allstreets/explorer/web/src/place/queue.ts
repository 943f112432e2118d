// Keys and strokes that come before their target is there: they wait, in order.

const MOST = 30; // a key that is held down does not fill it for minutes

export class Queue<T> {
  private waiting: T[] = [];

  /** `ready`: whether a place is there to act on; `run` acts on it, after which another may be due. */
  constructor(
    private readonly ready: () => boolean,
    private readonly run: (one: T) => void,
  ) {}

  get empty(): boolean {
    return this.waiting.length === 0;
  }

  push(one: T): void {
    if (this.waiting.length < MOST) this.waiting.push(one);
    this.go();
  }

  /** Run waiting commands, until one has to wait. */
  go(): void {
    while (this.ready()) {
      const [next, ...rest] = this.waiting;
      if (next === undefined) return;
      this.waiting = rest;
      this.run(next);
    }
  }

  /** Drop waiting commands: the place they were meant for does not exist. */
  clear(): void {
    this.waiting = [];
  }
}

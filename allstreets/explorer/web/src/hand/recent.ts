// Earlier answers; the oldest are dropped when there are too many.

export class Recent<T> {
  private readonly entries = new Map<string, T>();

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: T): void {
    this.entries.delete(key); // so that it counts as new
    this.entries.set(key, value);
    const oldest = this.entries.keys().next();
    if (this.entries.size > this.most && !oldest.done) this.entries.delete(oldest.value);
  }
}

// All solves of this server, the newest first.

import { get, post, remove, type RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { Changes } from "../common/changes.svelte";
import { goesOn, type Solve } from "./events";

const PERIOD = 3000; // milliseconds between two updates while something is being solved

export class SolveList {
  private readonly asked = new Asked<Solve[]>();
  private readonly changes = new Changes();

  /** The last deleted solve: it can be restored. */
  gone: Schemas["Trashed"] | null = $state.raw(null);

  private timer: ReturnType<typeof setTimeout> | undefined;
  private followers = 0;

  get solves(): readonly Solve[] {
    return this.asked.value ?? [];
  }

  get loaded(): boolean {
    return this.asked.value !== null;
  }

  get problem(): RefusedError | null {
    return this.changes.refusal ?? this.asked.error;
  }

  /** Keep the list fresh until the function that is returned is called. */
  follow(): () => void {
    this.followers += 1;
    void this.load();
    return () => {
      this.followers -= 1;
      clearTimeout(this.timer);
    };
  }

  async load(): Promise<void> {
    clearTimeout(this.timer);
    await this.asked.again((signal) => get("/api/solves", { signal }));
    if (this.asked.loading) return; // it was asked once more in the meantime
    const changes = this.asked.error !== null || this.solves.some((solve) => goesOn(solve.state));
    clearTimeout(this.timer);
    if (changes && this.followers > 0) this.timer = setTimeout(() => void this.load(), PERIOD);
  }

  /** Move a solve to the trash. */
  delete(id: string): Promise<void> {
    return this.change(async () => {
      this.gone = await remove("/api/solves/{solve}", { path: { solve: id } });
    });
  }

  /** Restore the last deleted solve. */
  undo(): Promise<void> {
    const trashed = this.gone?.id;
    if (trashed === undefined) return Promise.resolve();
    return this.change(async () => {
      if (this.gone === null) return; // it is back already
      await post("/api/trash/{trashed}/restore", { path: { trashed } });
      if (this.gone?.id === trashed) this.gone = null;
    });
  }

  /** Remove a solve from the queue. */
  cancel(id: string): Promise<void> {
    return this.change(() => post("/api/solves/{solve}/stop", { path: { solve: id } }));
  }

  private async change(request: () => Promise<unknown>): Promise<void> {
    if (await this.changes.make(request)) await this.load();
  }
}

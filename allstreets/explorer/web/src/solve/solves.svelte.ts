// All solves of this server, the newest first.

import { get, post, remove, RefusedError, type Schemas } from "../api/client";
import { goesOn, type Solve } from "./events";

const PERIOD = 3000; // milliseconds between two looks while something is being solved

export class SolveList {
  solves: readonly Solve[] = $state.raw([]);
  loaded = $state(false);
  problem: RefusedError | null = $state.raw(null);

  /** What was deleted last: it can be undone. */
  gone: Schemas["Trashed"] | null = $state.raw(null);

  private timer: ReturnType<typeof setTimeout> | undefined;
  private followers = 0;

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
    try {
      this.solves = await get("/api/solves");
      this.loaded = true;
      this.problem = null;
    } catch (error) {
      this.refuse(error);
    }
    const changes = this.problem !== null || this.solves.some((solve) => goesOn(solve.state));
    clearTimeout(this.timer);
    if (changes && this.followers > 0) this.timer = setTimeout(() => void this.load(), PERIOD);
  }

  /** Move a solve to the trash. */
  delete(id: string): Promise<void> {
    return this.change(async () => {
      this.gone = await remove("/api/solves/{solve}", { path: { solve: id } });
    });
  }

  /** Bring back what was deleted last. */
  undo(): Promise<void> {
    const trashed = this.gone?.id;
    if (trashed === undefined) return Promise.resolve();
    return this.change(async () => {
      await post("/api/trash/{trashed}/restore", { path: { trashed } });
      this.gone = null;
    });
  }

  /** Take a solve out of the line. */
  cancel(id: string): Promise<void> {
    return this.change(() => post("/api/solves/{solve}/stop", { path: { solve: id } }));
  }

  private async change(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
      await this.load();
    } catch (error) {
      this.refuse(error);
    }
  }

  private refuse(error: unknown): void {
    if (!(error instanceof RefusedError)) throw error;
    this.problem = error;
  }
}

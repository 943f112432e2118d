// Ranges that are kept under names, on the server: both editors of the form show the same list.

import { get, post, remove, RefusedError, type Schemas } from "../api/client";

type KeptRange = Schemas["KeptRange"];

export class KeptRanges {
  list: readonly KeptRange[] = $state.raw([]);
  problem: string | null = $state(null);

  load(): Promise<boolean> {
    return this.ask(async () => undefined);
  }

  /** Keep a range; one of that name is replaced. Whether that was done. */
  keep(name: string, text: string): Promise<boolean> {
    return this.ask(() => post("/api/ranges", { body: { name, text } }));
  }

  forget(name: string): Promise<boolean> {
    return this.ask(() => remove("/api/ranges", { query: { name } }));
  }

  find(name: string): KeptRange | undefined {
    const wanted = name.trim();
    return this.list.find((one) => one.name === wanted);
  }

  private async ask(change: () => Promise<unknown>): Promise<boolean> {
    try {
      await change();
      this.list = await get("/api/ranges");
      this.problem = null;
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.problem = error.message;
      return false;
    }
  }
}

export const keptRanges = new KeptRanges();

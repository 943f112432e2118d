// Ranges that are kept under names, on the server: both editors of the form show the same list.

import { get, post, remove, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { Changes } from "../common/changes.svelte";

type KeptRange = Schemas["KeptRange"];

export class KeptRanges {
  private readonly asked = new Asked<KeptRange[]>();
  private readonly changes = new Changes();

  get list(): readonly KeptRange[] {
    return this.asked.value ?? [];
  }

  get problem(): string | null {
    return (this.changes.refusal ?? this.asked.error)?.message ?? null;
  }

  async load(): Promise<void> {
    await this.asked.again((signal) => get("/api/ranges", { signal }));
  }

  /** Keep a range; one of that name is replaced. Returns whether it was stored. */
  keep(name: string, text: string): Promise<boolean> {
    return this.change(() => post("/api/ranges", { body: { name, text } }));
  }

  forget(name: string): Promise<boolean> {
    return this.change(() => remove("/api/ranges", { query: { name } }));
  }

  find(name: string): KeptRange | undefined {
    const wanted = name.trim();
    return this.list.find((one) => one.name === wanted);
  }

  private async change(request: () => Promise<unknown>): Promise<boolean> {
    const made = await this.changes.make(request);
    if (made) await this.load();
    return made;
  }
}

export const keptRanges = new KeptRanges();

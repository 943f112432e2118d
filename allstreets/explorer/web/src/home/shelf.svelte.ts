// The solutions of this server: listed, named, deleted and brought back.

import { get, post, remove, RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";

type SolutionCard = Schemas["SolutionCard"];
type Trashed = Schemas["Trashed"];

export class Shelf {
  readonly asked = new Asked<SolutionCard[]>();
  trash: readonly Trashed[] = $state.raw([]);
  /** What has just been deleted: it can be undone. */
  gone: Trashed | null = $state.raw(null);
  refused = $state("");

  private looks = 0;

  load(): void {
    void this.asked.ask(String(this.looks), (signal) => get("/api/solutions", { signal }));
    void this.change(async () => {
      this.trash = await get("/api/trash");
    });
  }

  /** Whether it worked. */
  label(id: string, label: Schemas["Label"]): Promise<boolean> {
    return this.change(async () => {
      await post("/api/solutions/{solution}/label", { path: { solution: id }, body: label });
      this.again();
    });
  }

  delete(id: string): Promise<boolean> {
    return this.change(async () => {
      this.gone = await remove("/api/solutions/{solution}", { path: { solution: id } });
      this.again();
    });
  }

  restore(id: string): Promise<boolean> {
    return this.change(async () => {
      this.trash = await post("/api/trash/{trashed}/restore", { path: { trashed: id } });
      if (this.gone?.id === id) this.gone = null;
      this.again();
    });
  }

  private again(): void {
    this.looks += 1;
    this.load();
  }

  private async change(request: () => Promise<void>): Promise<boolean> {
    this.refused = "";
    try {
      await request();
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.refused = error.message;
      return false;
    }
  }
}

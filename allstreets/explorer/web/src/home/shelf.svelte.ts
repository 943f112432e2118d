// The solutions of this server: listed, named, deleted and restored.

import { get, post, remove, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { Changes } from "../common/changes.svelte";

type SolutionCard = Schemas["SolutionCard"];
type Trashed = Schemas["Trashed"];

export class Shelf {
  readonly asked = new Asked<SolutionCard[]>();
  /** The solution that has just been deleted: it can be restored. */
  gone: Trashed | null = $state.raw(null);

  private readonly trashed = new Asked<Trashed[]>();
  private readonly changes = new Changes();

  get trash(): readonly Trashed[] {
    return this.trashed.value ?? [];
  }

  get refused(): string {
    return (this.changes.refusal ?? this.trashed.error)?.message ?? "";
  }

  load(): void {
    void this.asked.again((signal) => get("/api/solutions", { signal }));
    void this.trashed.again((signal) => get("/api/trash", { signal }));
  }

  /** Whether it worked. */
  label(id: string, label: Schemas["Label"]): Promise<boolean> {
    return this.change(() =>
      post("/api/solutions/{solution}/label", { path: { solution: id }, body: label }),
    );
  }

  delete(id: string): Promise<boolean> {
    return this.change(async () => {
      this.gone = await remove("/api/solutions/{solution}", { path: { solution: id } });
    });
  }

  restore(id: string): Promise<boolean> {
    return this.change(async () => {
      await post("/api/trash/{trashed}/restore", { path: { trashed: id } });
      if (this.gone?.id === id) this.gone = null;
    });
  }

  private async change(request: () => Promise<unknown>): Promise<boolean> {
    const made = await this.changes.make(request);
    if (made) this.load();
    return made;
  }
}

// The current flop of a whole game with real combos: its state, and the solve.

import { untrack } from "svelte";
import { get, post, RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { watch, type Live } from "../solve/live.svelte";

export type ExactFlop = Schemas["ExactFlop"];

export class ExactStore {
  readonly asked = new Asked<ExactFlop>();
  readonly flop: ExactFlop | null = $derived(this.asked.value);
  sending = $state(false);
  refused = $state("");
  private begun = $state(0); // how often a solve was begun from here

  constructor(readonly id: string) {}

  /** The solve of the flop, while it runs or after it ended. */
  get live(): Live | null {
    const solve = this.flop?.solve;
    return solve ? watch(solve) : null;
  }

  /** Ask for the state of a flop; again when its solve was started, has saved, or has ended. */
  follow(line: string, saves: number, goesOn: boolean): void {
    const key = `${line} ${this.begun} ${saves} ${goesOn}`;
    untrack(() => {
      void this.asked.ask(key, (signal) =>
        get("/api/solutions/{solution}/exact", {
          path: { solution: this.id },
          query: { line },
          signal,
        }),
      );
    });
  }

  /** Solve it. */
  async start(): Promise<void> {
    if (!this.flop) return;
    this.sending = true;
    this.refused = "";
    try {
      const solve = await post("/api/solutions/{solution}/exact", {
        path: { solution: this.id },
        body: { line: this.flop.line, target_pct: 0.3 },
      });
      watch(solve.id).accept(solve);
      this.begun += 1;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.refused = error.message;
    } finally {
      this.sending = false;
    }
  }
}

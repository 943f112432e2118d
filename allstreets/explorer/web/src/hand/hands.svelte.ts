// Hands combo by combo, asked for when a pointer rests on them and kept for the next time.

import { untrack } from "svelte";
import { get, type Schemas } from "../api/client";
import type { PlayerName } from "../app/address";
import { Asked } from "../common/asked.svelte";
import { Recent } from "./recent";

export type HandDetail = Schemas["HandDetail"];

export interface Question {
  solution: string;
  version: string;
  line: string;
  evs: Schemas["Place"]["evs"];
  player: PlayerName;
  hand: string;
}

const DELAY = 40; // milliseconds: a pointer that only crosses a cell asks for nothing
const known = new Recent<HandDetail>(500);

export class Hands {
  readonly asked = new Asked<HandDetail>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  look(question: Question): void {
    untrack(() => {
      clearTimeout(this.timer);
      const { solution, version, line, evs, player, hand } = question;
      const key = JSON.stringify([solution, version, line, evs, player, hand]);
      const before = known.get(key);
      if (before) {
        this.asked.accept(key, before);
        return;
      }
      this.timer = setTimeout(() => {
        void this.asked.ask(key, async (signal) => {
          const detail = await get("/api/solutions/{solution}/hand", {
            path: { solution },
            query: { line, evs, player, hand },
            signal,
          });
          known.set(key, detail);
          return detail;
        });
      }, DELAY);
    });
  }
}

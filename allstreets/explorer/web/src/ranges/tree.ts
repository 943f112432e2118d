// Every range before the flop as files for other programs, in one download.

import { address, download, RefusedError } from "../api/client";
import { copier } from "../summary/copy.svelte";
import { kindLabel, type RangeKind } from "./kinds";

/** Solutions that have betting before the flop. */
export const TREES: readonly string[] = ["unified", "preflop"];

export async function downloadTree(solution: string, kind: RangeKind): Promise<void> {
  copier.say(`Writing every range before the flop for ${kindLabel(kind)} …`, true);
  try {
    const where = address("/api/solutions/{solution}/ranges.zip", { solution }, { kind });
    copier.say(`Saved ${await download(where)}: README.txt in it lists the files`);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    copier.say(error.message);
  }
}

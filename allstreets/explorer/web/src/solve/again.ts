// A solve to change and start again: its form, filled in.

import { router } from "../app/router.svelte";
import { trainer } from "../train/game.svelte";
import type { Solve } from "./events";
import { editor } from "./form.svelte";

export function again(solve: Solve): void {
  if (solve.game) {
    trainer.write(solve.game.text);
    router.go({ page: "train" });
  } else if (solve.form) {
    editor.fill(solve.form);
    router.go({ page: "solve", id: null });
  }
}

// Requesting a lock: the spot is solved again, and its answer opens when it is ready.

import { post, RefusedError, type Schemas } from "../api/client";
import { router } from "../app/router.svelte";

/** Solves whose solution opens by itself: they are answers to questions. */
export const awaited = new Set<string>();

/** Lock and solve again; the reason if it is refused, or "". */
export async function lock(solution: string, form: Schemas["LockForm"]): Promise<string> {
  const open = router.onward();
  try {
    const solve = await post("/api/solutions/{solution}/lock", { path: { solution }, body: form });
    awaited.add(solve.id);
    open({ page: "solve", id: solve.id });
    return "";
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return error.message;
  }
}

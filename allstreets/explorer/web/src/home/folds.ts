// Which sets of spots are folded out: they stay so while somebody looks at one of their boards.

import { SvelteSet } from "svelte/reactivity";

export const unfolded = new SvelteSet<string>();

/** Folders of the list that are folded in. */
export const closed = new SvelteSet<string>();

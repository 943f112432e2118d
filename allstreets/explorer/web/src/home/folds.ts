// The sets of spots that are folded out: they stay so while one of their boards is viewed.

import { SvelteSet } from "svelte/reactivity";

export const unfolded = new SvelteSet<string>();

/** Folders of the list that are folded in. */
export const closed = new SvelteSet<string>();

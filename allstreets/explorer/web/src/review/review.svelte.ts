// The current review: its table is read once, and its hands follow the filters.

import { get, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { ANY, filtered, handsOf, type Filter } from "./table";

class ReviewStore {
  asked = new Asked<Schemas["ReviewDetail"]>();
  filter: Filter = $state.raw(ANY);
  private id = "";
  private times = $state(0);

  rows = $derived(filtered(this.asked.value?.rows ?? [], this.filter));
  hands = $derived(handsOf(this.rows));

  open(review: string): void {
    if (review !== this.id) this.filter = ANY;
    this.id = review;
    void this.asked.ask(`${review} ${this.times}`, (signal) =>
      get("/api/reviews/{review}", { path: { review }, signal }),
    );
  }

  /** Read it again: more hands may be reviewed by now. */
  again(): void {
    this.times += 1;
  }
}

export const store = new ReviewStore();

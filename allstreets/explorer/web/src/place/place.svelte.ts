// The current place in the game: the request of the address, and the server's answer.

import { untrack } from "svelte";
import { get, RefusedError, type Schemas } from "../api/client";
import { looking, type Looking } from "../app/address";
import { router } from "../app/router.svelte";
import { about } from "../common/about";
import { Asked } from "../common/asked.svelte";
import { dealOf } from "../exact/words";
import { linesOn, NearPlaces } from "./near";
import { lineBack, lineForward, trailAfter } from "./trail";

export type Place = Schemas["Place"];
export type Grids = Schemas["Grids"];

export class PlaceStore {
  readonly about = new Asked<Schemas["About"]>();
  readonly detail = new Asked<Schemas["SolutionDetail"]>();
  readonly asked = new Asked<Place>();
  readonly place: Place | null = $derived(this.asked.value);
  /** Changes when the numbers of the solution do: part of every question about it. */
  version = $state("");

  private followed: string | null = $state(null); // the line that was asked for last
  private trail: readonly string[] = [];
  private readonly near = new NearPlaces();
  private ahead = new AbortController();
  private described = ""; // the version that made it ask again

  constructor(readonly id: string) {}

  /** Ask for what the address names; `saves` grows when a solution that is being solved is saved. */
  follow({ line, evs }: Pick<Looking, "line" | "evs">, saves: number): void {
    untrack(() => {
      this.followed = line;
      const path = { solution: this.id };
      void this.about.ask("", about);
      this.describe(saves);
      this.ahead.abort();
      const question = (line: string): string => `${saves} ${evs} ${line}`;
      const hear = (place: Place): Place => {
        this.trail = trailAfter(this.trail, place);
        this.version = place.written;
        this.describe(saves);
        return place;
      };
      const fetched = async (line: string, signal: AbortSignal): Promise<Place> => {
        const query = { line, evs: evs ?? ("here" as const) };
        const place = await get("/api/solutions/{solution}/place", { path, query, signal });
        this.near.keep(question(line), place);
        return place;
      };
      const known = this.near.get(question(line));
      if (known) {
        this.asked.accept(question(line), known);
        hear(known);
        void this.lookAhead(known, question, fetched);
        return;
      }
      void this.asked.ask(question(line), async (signal, show) => {
        const placeAt = async (line: string): Promise<Place> => {
          const place = hear(await fetched(line, signal));
          void this.lookAhead(place, question, fetched);
          return place;
        };
        try {
          return await placeAt(line);
        } catch (error) {
          // A flop that is not stored: its cards are picked where it is dealt, so that is shown.
          const deal = dealOf(line);
          const missing = error instanceof RefusedError && error.status === 404;
          if (missing && deal !== null && deal !== this.place?.line) show(await placeAt(deal));
          throw error;
        }
      });
    });
  }

  /** Fetch the places that the actions lead to, one after the other, until another one is asked for. */
  private async lookAhead(
    place: Place,
    question: (line: string) => string,
    fetched: (line: string, signal: AbortSignal) => Promise<Place>,
  ): Promise<void> {
    const { signal } = (this.ahead = new AbortController());
    try {
      for (const line of linesOn(place))
        if (!this.near.get(question(line))) await fetched(line, signal);
    } catch {
      // Not requested yet: a later request reports the problem.
    }
  }

  /** Ask which solution it is; again if it was written since, by any program. */
  private describe(saves: number): void {
    const path = { solution: this.id };
    const known = this.detail.value?.written ?? this.version;
    if (known !== this.version) this.described = this.version;
    void this.detail.ask(`${saves} ${this.described}`, (signal) =>
      get("/api/solutions/{solution}", { path, signal }),
    );
  }

  /** Go to another place; it shows the hands of the player who acts there. */
  go(line: string | null, change: Partial<Looking> = {}): void {
    if (line === null) return;
    const before = router.address.page === "solution" ? router.address : looking(this.id);
    router.go({ ...before, id: this.id, player: null, action: null, ...change, line });
  }

  /** Whether the place that the address names is there, or is known not to exist. */
  get settled(): boolean {
    const { address } = router;
    return address.page === "solution" && address.line === this.followed && !this.asked.loading;
  }

  back(): void {
    if (!this.place || router.address.page !== "solution") return;
    this.go(lineBack(this.place, router.address.line, this.asked.loading || this.asked.error !== null));
  }

  forward(): void {
    const here = this.place?.here;
    if (!this.place || !here) return;
    this.go(lineForward(this.trail, this.place, here.kind === "decision" ? here.actions : []));
  }

  /** The nth action that is offered, if there is one. */
  take(action: number): void {
    const here = this.place?.here;
    if (here?.kind === "decision") this.go(here.actions[action]?.line ?? null);
  }

  root(): void {
    this.go(this.detail.value?.root ?? null);
  }
}

/** Change the view of a place: the back button does not undo this. */
export function show(change: Partial<Looking>): void {
  if (router.address.page === "solution") router.replace({ ...router.address, ...change });
}

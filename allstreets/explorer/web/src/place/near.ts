// Visited places, and those that an action leads to: a key finds them here immediately.

import type { Schemas } from "../api/client";

type Place = Schemas["Place"];

const MOST = 200; // the oldest gives way
const LEAST = 0.01; // an action that is taken less is not looked up beforehand

/** Places of one state of a solution, by the question that they answer. */
export class NearPlaces {
  private readonly places = new Map<string, Place>();
  private written = "";

  get(question: string): Place | null {
    return this.places.get(question) ?? null;
  }

  /** Keep an answer; those of a solution that has been written since are dropped. */
  keep(question: string, place: Place): void {
    if (place.written !== this.written) this.places.clear();
    this.written = place.written;
    this.places.delete(question);
    this.places.set(question, place);
    const [oldest] = this.places.keys();
    if (this.places.size > MOST && oldest !== undefined) this.places.delete(oldest);
  }
}

/** The lines that the user may want next, the likeliest first. */
export function linesOn(place: Place): string[] {
  if (place.here?.kind !== "decision") return [];
  return place.here.actions
    .filter(({ frequency }) => (frequency ?? 0) >= LEAST)
    .sort((one, other) => (other.frequency ?? 0) - (one.frequency ?? 0))
    .flatMap(({ line }) => (line === null ? [] : [line]));
}

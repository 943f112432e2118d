// A solve in progress. In a component:
//
//   const live = $derived(solveId ? watch(solveId) : null);
//   $effect(() => live?.follow());                     // listens while the component is there
//   $effect(() => { if (live?.saves) reload(); });     // the solution has new numbers
//
// All who watch the same solve share one stream: a browser opens few of them to a server.

import { address, get, type RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { goesOn, joined, retryDelay, type CurvePoint, type Solve } from "./events";

export class Live {
  /** The latest state; null until the first answer. */
  solve: Solve | null = $state.raw(null);
  points: readonly CurvePoint[] = $state.raw([]);
  /** The reason why nothing is known, or why the state may be old. */
  problem: RefusedError | null = $state.raw(null);

  private followers = 0;
  private attempt = 0;
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Asked<Schemas["SolveDetail"]>();

  constructor(readonly id: string) {}

  // These are read by components that come and go, so they are computed again and not $derived,
  // which would end with the component that asked first.

  /** How often the solution was saved: when it grows, ask for its numbers again. */
  get saves(): number {
    return this.solve?.saves ?? 0;
  }

  /** Whether more is to come. */
  get goesOn(): boolean {
    return this.solve !== null && goesOn(this.solve.state);
  }

  /** Listen until the function that is returned is called. */
  follow(): () => void {
    this.followers += 1;
    if (this.followers === 1) void this.refresh();
    return () => {
      this.followers -= 1;
      if (this.followers === 0) this.disconnect();
    };
  }

  /** Ask for the state of the solve, and listen if it is active. */
  async refresh(): Promise<void> {
    this.disconnect();
    const path = { solve: this.id };
    const outcome = await this.asked.again((signal) => get("/api/solves/{solve}", { path, signal }));
    if (outcome === "dropped") return;
    const { value, error } = this.asked;
    this.problem = outcome === "refused" ? error : null;
    if (outcome === "answered" && value) {
      const { curve, ...solve } = value;
      this.attempt = 0;
      this.solve = solve;
      this.points = curve;
      if (this.goesOn && this.followers > 0) this.listen();
    } else if (error && (error.status === 0 || error.status >= 500)) {
      this.tryLater(); // a server that is gone may come back; one that knows no such solve never will
    }
  }

  /** Take the answer to a request that changed the solve. Earlier states are older. */
  accept(solve: Solve): void {
    this.solve = solve;
    if (this.followers > 0) void this.refresh();
  }

  private listen(): void {
    const source = new EventSource(address("/api/solves/{solve}/events", { solve: this.id }));
    this.source = source;
    source.addEventListener("solve", (message: MessageEvent<string>) => {
      const event = JSON.parse(message.data) as Schemas["SolveEvent"];
      this.solve = event.solve;
      this.points = joined(this.points, event.points);
      // The server ends the stream with the solve; the browser would open it again forever.
      if (!this.goesOn) this.disconnect();
    });
    // The browser would try again by itself, but would not notice that a server that was started
    // again knows the solve as cut off, and would give up after an answer that is no stream.
    source.addEventListener("error", () => {
      this.disconnect();
      this.tryLater();
    });
  }

  private tryLater(): void {
    if (this.followers === 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), retryDelay(this.attempt));
    this.attempt += 1;
  }

  private disconnect(): void {
    clearTimeout(this.timer);
    this.asked.drop();
    this.source?.close();
    this.source = null;
  }
}

const watched: Record<string, Live> = {};

/** The solve with this id, the same object for all who ask. Listen with `follow`. */
export function watch(solveId: string): Live {
  return (watched[solveId] ??= new Live(solveId));
}

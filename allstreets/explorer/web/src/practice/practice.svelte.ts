// A session of practice as the page plays it: a decision, what it cost, and on.

import { get, post, RefusedError, type Schemas } from "../api/client";

export type Form = Schemas["PracticeForm"];
export type State = Schemas["PracticeState"];

export class Practice {
  state: State | null = $state.raw(null);
  error: RefusedError | null = $state.raw(null);
  busy = $state(false);
  looking = $state(false); // at what the last decision cost
  finished = $state(false);

  /** What is asked now; null: something is looked at, or the hand is over. */
  get question(): Schemas["PracticeQuestion"] | null {
    return this.looking || this.finished ? null : (this.state?.question ?? null);
  }

  begin(form: Form): Promise<void> {
    return this.run(async () => {
      this.state = await post("/api/practice/sessions", { body: form });
      this.looking = this.finished = false;
    });
  }

  answer(action: number): Promise<void> {
    const asked = this.question;
    if (!asked || action >= asked.actions.length) return Promise.resolve();
    return this.run(async (session) => {
      const body = { question: asked.number, action };
      const path = { session };
      this.state = await post("/api/practice/sessions/{session}/answers", { path, body });
      this.looking = true;
    });
  }

  /** From what a decision cost to the next one, to the end of the hand, to the next hand. */
  on(): Promise<void> {
    if (this.finished || !this.state) return Promise.resolve();
    if (this.looking && this.state.question) {
      this.looking = false;
      return Promise.resolve();
    }
    if (!this.state.end) return Promise.resolve();
    return this.run(async (session) => {
      this.state = await post("/api/practice/sessions/{session}/hands", { path: { session } });
      this.looking = false;
    });
  }

  finish(): void {
    if (this.state) this.finished = true;
  }

  /** Back to the choice of what is practised. */
  leave(): void {
    this.state = null;
    this.error = null;
    this.looking = this.finished = false;
  }

  private async run(what: (session: string) => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.error = null;
    try {
      await what(this.state?.session ?? "");
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.error = error;
    } finally {
      this.busy = false;
    }
  }
}

/** The one session of this page: who looks at something else in between finds it as it was. */
export const practice = new Practice();

/** What was kept; of one solution that was played on, or of all of them (""). */
export function results(
  solution: string,
  signal: AbortSignal,
): Promise<Schemas["PracticeResults"]> {
  return get("/api/practice/results", { query: { solution: solution || null }, signal });
}

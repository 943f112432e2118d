// The spot in the form, the server's estimate of it, and sending it.

import { get, post, RefusedError, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import { boardCards } from "./board";
import { draftOf, formOf, type Draft, type Problem, type SpotForm } from "./draft";
import { keepDraft, keptDraft } from "./kept-draft";
import { withoutRepeats } from "./problems";
import { sharingOf, sizeRows, spread, type Sharing } from "./sizes";

const PAUSE = 300; // milliseconds without a change before the server is asked
const RETRY = 3000; // milliseconds before a server that did not answer is asked again

function problemsOf(error: RefusedError): Problem[] {
  if (error.problems.length > 0) return error.problems;
  return [{ message: error.message, field: null, hints: [] }];
}

export class SpotEditor {
  draft: Draft | null = $state.raw(null);
  examples: readonly Schemas["Example"][] = $state.raw([]);
  devices: readonly Schemas["DeviceChoice"][] = $state.raw([]);
  estimate: Schemas["SpotEstimate"] | null = $state.raw(null); // of the last spot without mistakes
  asking = $state(false); // the estimate is not yet that of the draft
  sending = $state(false);
  private found: readonly Problem[] = $state.raw([]);
  private unread = false; // whether a number of the last draft could not be read
  /** The reason why nothing could be loaded or solved, apart from fields. */
  refusal: RefusedError | null = $state.raw(null);

  readonly cards: readonly string[] = $derived(boardCards(this.draft?.board ?? ""));
  readonly rows = $derived(
    sizeRows(this.cards.length, this.draft?.sharing ?? { players: true, streets: true }),
  );
  /** The example that the draft is, while nothing of it is changed. */
  readonly example = $derived(
    this.examples.find(({ form }) => JSON.stringify(draftOf(form)) === JSON.stringify(this.draft)),
  );
  readonly problems: readonly Problem[] = $derived(withoutRepeats(this.found, this.rows));

  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Asked<Schemas["SpotEstimate"]>();

  /** Start with the last draft, or with the first example. */
  async load(): Promise<void> {
    try {
      [this.examples, this.devices] = await Promise.all([
        get("/api/examples"),
        get("/api/devices"),
      ]);
      this.refusal = null;
    } catch (error) {
      this.refuse(error);
      return;
    }
    const [example] = this.examples;
    if (this.draft || !example) return;
    const first = draftOf(example.form);
    this.show(keptDraft(first) ?? first);
  }

  /** Write another spot over the draft. */
  fill(form: SpotForm): void {
    this.show(draftOf(form));
  }

  change(part: Partial<Draft>): void {
    if (this.draft) this.show({ ...this.draft, ...part });
  }

  setBoard(board: string): void {
    if (!this.draft) return;
    const { sizes, sharing } = this.draft;
    const count = boardCards(board).length;
    const same = sharingOf(sizes, count);
    // Streets that come into sight may have sizes of their own, which a shared field would hide.
    const kept = {
      players: sharing.players && same.players,
      streets: sharing.streets && same.streets,
    };
    this.change({ board, sharing: count === this.cards.length ? sharing : kept });
  }

  setSharing(sharing: Sharing): void {
    if (!this.draft) return;
    this.change({ sharing, sizes: spread(this.draft.sizes, this.cards.length, sharing) });
  }

  /** Send the spot; the id of its solve, or null where it was refused. */
  async start(): Promise<string | null> {
    const { draft } = this;
    const form = draft && formOf(draft).form;
    if (!form || this.sending) return null;
    this.sending = true;
    this.refusal = null;
    try {
      return (await post("/api/solves", { body: form })).id;
    } catch (error) {
      this.refuse(error);
      const told = error instanceof RefusedError && error.status === 422;
      if (told && draft === this.draft) this.found = problemsOf(error);
      return null;
    } finally {
      this.sending = false;
    }
  }

  private show(draft: Draft): void {
    this.draft = draft;
    this.refusal = null;
    keepDraft(draft);
    clearTimeout(this.timer);
    this.asked.drop();
    const { form, problems } = formOf(draft);
    this.asking = form !== null;
    if (form) this.timer = setTimeout(() => void this.ask(form), PAUSE);
    if (!form || this.unread) this.found = problems; // those that the draft no longer has go at once
    this.unread = form === null;
  }

  private async ask(form: SpotForm): Promise<void> {
    const outcome = await this.asked.again((signal) =>
      post("/api/solves/estimate", { body: form, signal }),
    );
    if (outcome === "dropped") return;
    const { value, error } = this.asked;
    if (outcome === "answered" && value) {
      this.found = value.problems;
      if (value.memory_bytes !== null) this.estimate = value;
    } else if (error) {
      this.found = problemsOf(error);
      if (error.status === 0) this.timer = setTimeout(() => void this.ask(form), RETRY);
    }
    this.asking = false;
  }

  private refuse(error: unknown): void {
    if (!(error instanceof RefusedError)) throw error;
    this.refusal = error;
  }
}

/** There is one form: it is still there after a solve. */
export const editor = new SpotEditor();

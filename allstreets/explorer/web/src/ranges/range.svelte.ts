// A range that is being edited, as text and as a grid. The server reads and writes the text; until
// it has answered, the grid shows what was painted.

import { post, RefusedError } from "../api/client";
import { about } from "../common/about";
import type { Weights } from "./painting";

const TYPING_PAUSE = 250; // milliseconds without a key before the text is read
const MOST_EARLIER = 50;

export class EditedRange {
  text = $state("");
  weights: Weights = $state.raw({});
  mixed: readonly string[] = $state.raw([]); // hands whose combos differ
  combos: number | null = $state(null);
  percent: number | null = $state(null);
  problem: string | null = $state(null);
  earlier: readonly string[] = $state.raw([]); // texts to go back to, the last one first

  private good = ""; // the last text that could be read: what the grid shows, strokes apart
  private unread: string | null = null; // a text that the server has not been heard on yet
  private sent: Weights = {}; // painted, and told to the server
  private painted: Weights = {}; // by the stroke that goes on
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | null = null;

  /** `onchange` is told every new text, whether or not it can be read. */
  constructor(private readonly onchange: (text: string) => void) {}

  /** Show another range; there is nothing to go back to. */
  read(text: string): void {
    this.put(text);
    this.earlier = [];
    void this.ask(text, {}, false);
  }

  /** The text as it is being typed; it is left as it stands. */
  type(text: string): void {
    this.put(text);
    this.asking?.abort();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(text), TYPING_PAUSE);
    this.onchange(text);
  }

  /** The text has been typed: write it as all ranges are written. */
  async tidy(): Promise<void> {
    if (await this.ask(this.text)) this.rewrite(this.good);
  }

  /** Cells get a weight on the screen; `commit` makes it count. */
  paint(hands: readonly string[], weight: number): void {
    const changes = Object.fromEntries(hands.map((hand) => [hand, weight]));
    this.painted = { ...this.painted, ...changes };
    this.weights = { ...this.weights, ...changes };
  }

  async commit(): Promise<void> {
    this.sent = { ...this.sent, ...this.painted };
    this.painted = {};
    if (await this.ask(this.unread ?? this.good, this.sent)) this.rewrite(this.good);
  }

  async clear(): Promise<void> {
    this.type("");
    await this.tidy();
  }

  /** Take the last change back. */
  undo(): void {
    const [text, ...rest] = this.earlier;
    if (text === undefined) return;
    this.put(text);
    this.earlier = rest;
    void this.ask(text, {}, false);
    this.onchange(text);
  }

  private put(text: string): void {
    this.text = this.unread = text;
    this.sent = this.painted = {};
  }

  private rewrite(text: string): void {
    if (text === this.text) return;
    this.text = text;
    this.onchange(text);
  }

  /** Whether the text could be read, and nothing else was asked for in the meantime. */
  private async ask(text: string, changes: Weights = {}, remember = true): Promise<boolean> {
    clearTimeout(this.timer);
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    try {
      const { hands } = await about();
      const grid = await post("/api/range", { body: { text, changes }, signal: asking.signal });
      if (asking.signal.aborted) return false;
      this.unread = null;
      this.problem = grid.problem?.message ?? null;
      if (grid.problem) return false;
      if (remember && grid.text !== this.good) {
        this.earlier = [this.good, ...this.earlier].slice(0, MOST_EARLIER);
      }
      this.good = grid.text;
      this.sent = {};
      this.combos = grid.combos;
      this.percent = grid.percent;
      this.mixed = grid.mixed.map((hand) => hands[hand] ?? "");
      const weights = hands.map((hand, index) => [hand, grid.weights[index] ?? 0] as const);
      this.weights = { ...Object.fromEntries(weights), ...this.painted };
      return true;
    } catch (error) {
      if (asking.signal.aborted) return false;
      if (!(error instanceof RefusedError)) throw error;
      this.problem = error.message;
      return false;
    }
  }
}

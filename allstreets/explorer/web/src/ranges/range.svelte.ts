// A range that is being edited, as text and as a grid. The text is what counts: a stroke on the grid
// is added to it at once, and the page reads it by itself. The server has the last word: it writes
// the text as all ranges are written, reads other kinds of texts, and says what is wrong.
//
// While a text waits that only the server can read, the grid is still that of the one before, so
// strokes wait too.

import { post, type Schemas } from "../api/client";
import { about } from "../common/about";
import { Asked } from "../common/asked.svelte";
import { Queue } from "../place/queue";
import { strokeWeight, type Weights } from "./painting";
import { painted, readRange, type Grid } from "./reading";

const TYPING_PAUSE = 250; // milliseconds without a key before the server reads the text
const MOST_EARLIER = 50;

interface Stroke {
  hands: readonly string[];
  brush: number;
  weight: number | null; // null: it follows from the cell that the stroke begins with
}

export class EditedRange {
  text = $state("");
  grid: Grid = $state.raw(readRange("") as Grid); // of the last text that could be read
  problem: string | null = $state(null);
  earlier: readonly string[] = $state.raw([]); // texts to go back to, the last one first
  waits = $state(false); // for the server: the grid is not that of the text

  private shown = ""; // the text of the grid
  private settled = ""; // the text that the next change leads away from
  private stroke: Stroke | null = null; // the current one
  private brushed: Weights = $state.raw({}); // what it has painted
  private readonly strokes = new Queue<Stroke>(
    () => !this.waits,
    (stroke) => this.apply(stroke),
  );
  /** The weights of the grid, with the current stroke. */
  readonly weights: Weights = $derived({ ...this.grid.weights, ...this.brushed });

  private readonly asked = new Asked<Schemas["RangeGrid"]>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `onchange` is told every new text, whether or not it can be read. */
  constructor(private readonly onchange: (text: string) => void) {}

  /** Show another range; the history is empty then. */
  read(text: string): void {
    this.strokes.clear();
    this.put(text);
    this.earlier = [];
    this.settled = text;
    void this.ask(false);
  }

  /** The text while it is typed; it is not changed. */
  type(text: string): void {
    this.strokes.clear();
    this.put(text);
    this.onchange(text);
    this.timer = setTimeout(() => void this.ask(false), TYPING_PAUSE);
  }

  /** The text is complete: write it in the canonical form. */
  tidy(): Promise<void> {
    return this.ask(true);
  }

  /** Replace the text. */
  replace(text: string): Promise<void> {
    this.strokes.clear();
    return this.change(text);
  }

  clear(): Promise<void> {
    return this.replace("");
  }

  /** A stroke begins with a cell: it clears a cell with the brush's weight, or paints. */
  begin(hand: string, brush: number): void {
    const weight = this.waits ? null : strokeWeight(this.grid.weights[hand] ?? 0, brush);
    this.move({ hands: [hand], brush, weight });
  }

  /** It continues to other cells. */
  extend(hands: readonly string[]): void {
    if (this.stroke) this.move({ ...this.stroke, hands: [...this.stroke.hands, ...hands] });
  }

  /** It ends, and counts. */
  end(): void {
    const { stroke } = this;
    this.move(null);
    if (stroke) this.add(stroke);
  }

  /** Give hands a weight. */
  paint(hands: readonly string[], weight: number): void {
    this.add({ hands, brush: weight, weight });
  }

  /** Undo the last change. */
  undo(): void {
    this.strokes.clear();
    this.remember();
    const [text, ...rest] = this.earlier;
    if (text === undefined) return;
    this.put(text);
    this.earlier = rest;
    this.settled = text;
    this.onchange(text);
    void this.ask(true);
  }

  private move(stroke: Stroke | null): void {
    this.stroke = stroke;
    const weight = stroke?.weight ?? null;
    this.brushed = stroke && weight !== null ? weighted(stroke.hands, weight) : {};
  }

  private add(stroke: Stroke): void {
    this.strokes.push(stroke);
    if (this.waits) void this.ask(true);
  }

  private apply({ hands, brush, weight }: Stroke): void {
    const begins = this.grid.weights[hands[0] ?? ""] ?? 0;
    const changes = weighted(hands, weight ?? strokeWeight(begins, brush));
    void this.change(painted(this.shown, changes));
  }

  private change(text: string): Promise<void> {
    this.remember(); // what was typed before
    this.put(text);
    this.remember();
    this.onchange(text);
    return this.ask(true);
  }

  private put(text: string): void {
    clearTimeout(this.timer);
    this.asked.drop();
    this.text = text;
    const grid = readRange(text);
    this.waits = grid === null;
    if (grid) this.show(text, grid);
  }

  private show(text: string, grid: Grid): void {
    this.shown = text;
    this.grid = grid;
    this.problem = null;
  }

  /** Record the grid as a step to go back to. */
  private remember(): void {
    if (this.shown === this.settled) return;
    this.earlier = [this.settled, ...this.earlier].slice(0, MOST_EARLIER);
    this.settled = this.shown;
  }

  /** Ask the server about the text, unless there is another one by then. */
  private async ask(tidies: boolean): Promise<void> {
    clearTimeout(this.timer);
    const { text } = this;
    let hands: readonly string[] = [];
    const outcome = await this.asked.again(async (signal) => {
      ({ hands } = await about());
      return post("/api/range", { body: { text, changes: {} }, signal });
    });
    const { value, error } = this.asked;
    if (outcome === "answered" && value) this.hear(text, value, hands, tidies);
    else if (outcome === "refused" && error) this.problem = error.message;
  }

  private hear(
    text: string,
    told: Schemas["RangeGrid"],
    hands: readonly string[],
    tidies: boolean,
  ): void {
    this.waits = false;
    if (told.problem) {
      this.problem = told.problem.message;
      this.strokes.clear(); // the range that they were meant for cannot be read
      return;
    }
    const { combos, percent } = told;
    const weights = Object.fromEntries(hands.map((hand, at) => [hand, told.weights[at] ?? 0]));
    this.show(told.text, { weights, mixed: told.mixed.map((at) => hands[at] ?? ""), combos, percent });
    if (this.settled === text) this.settled = told.text; // the same step, written otherwise
    this.remember();
    if (this.earlier[0] === told.text) this.earlier = this.earlier.slice(1); // nothing has changed
    if (tidies && this.text !== told.text) {
      this.text = told.text;
      this.onchange(told.text);
    }
    this.strokes.go();
  }
}

function weighted(hands: readonly string[], weight: number): Weights {
  return Object.fromEntries(hands.map((hand) => [hand, weight]));
}

// The choice of decisions to practise: a solution, and its topics. Topics are those of the chosen
// solution, never those of the one before.

import { get, type Schemas } from "../api/client";
import { Asked } from "../common/asked.svelte";
import type { Form } from "./practice.svelte";

export class Setup {
  seat: Form["seat"] = $state("both");
  streets: string[] = $state([]);
  pots: string[] = $state([]);
  suits: string[] = $state([]);
  pairings: string[] = $state([]);
  highCards: string[] = $state([]);
  line = $state("");
  seed = $state("");

  readonly asked = new Asked<Schemas["PracticeTopics"]>();
  private solution = $state("");

  /** The topics of the chosen solution; null until they are known. */
  get topics(): Schemas["PracticeTopics"] | null {
    return this.asked.answerTo(this.solution);
  }

  choose(solution: string): void {
    this.solution = solution;
    if (!solution) return;
    void this.asked.ask(solution, (signal) =>
      get("/api/practice/topics", { query: { solution }, signal }),
    );
  }

  /** The request; null while the topics are not known. */
  form(): Form | null {
    const { topics, solution, seat, line } = this;
    if (!topics) return null;
    return {
      solution,
      seat,
      streets: offered(topics.streets, this.streets) as Form["streets"],
      pots: offered(topics.pots, this.pots),
      line,
      suits: offered(topics.suits, this.suits),
      pairings: offered(topics.pairings, this.pairings),
      high_cards: offered(topics.high_cards, this.highCards),
      seed: /^\d+$/.test(this.seed.trim()) ? Number(this.seed) : null,
    };
  }
}

/** The ticked topics, as far as they are offered. */
function offered(all: readonly string[], ticked: readonly string[]): string[] {
  return ticked.filter((one) => all.includes(one));
}

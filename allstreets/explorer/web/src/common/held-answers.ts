// For tests: a server whose answers are held back until the test gives them, in any order.

import { vi } from "vitest";

interface Question {
  name: string; // "GET /api/ranges"
  body: unknown;
  answer: (value: unknown, status: number) => void;
}

export class HeldAnswers {
  private open: Question[] = [];

  constructor() {
    vi.stubGlobal("fetch", (where: string, init: RequestInit = {}) => this.take(where, init));
  }

  /** The questions that wait for an answer, the oldest first. */
  get names(): string[] {
    return this.open.map((question) => question.name);
  }

  /** What was sent with the questions that wait. */
  get bodies(): unknown[] {
    return this.open.map((question) => question.body);
  }

  /** Answer the oldest question of this name, or the newest; returns when the page has heard it. */
  async answer(name: string, value: unknown, which: "oldest" | "newest" = "oldest"): Promise<void> {
    await this.tell(name, value, which, 200);
  }

  async refuse(name: string, message: string, status = 422): Promise<void> {
    await this.tell(name, { message, problems: [] }, "oldest", status);
  }

  private async tell(name: string, value: unknown, which: string, status: number): Promise<void> {
    await heard();
    const named = this.open.filter((question) => question.name === name);
    const question = named.at(which === "oldest" ? 0 : -1);
    if (!question) throw new Error(`${name} was not asked, but: ${this.names.join("; ")}`);
    this.open = this.open.filter((other) => other !== question);
    question.answer(value, status);
    await heard();
  }

  private take(where: string, init: RequestInit): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const question: Question = {
        name: `${init.method ?? "GET"} ${where}`,
        body: init.body === undefined ? undefined : JSON.parse(init.body as string),
        answer: (value, status) =>
          resolve({ ok: status < 300, status, json: () => Promise.resolve(value) }),
      };
      this.open.push(question);
      init.signal?.addEventListener("abort", () => {
        this.open = this.open.filter((other) => other !== question);
        reject(new DOMException("", "AbortError"));
      });
    });
  }
}

/** Wait until the page can do no more without another answer. */
export function heard(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

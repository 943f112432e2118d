import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Schemas } from "../api/client";
import { Live, watch } from "./live.svelte";

// A server in a few lines: `solve` is what it knows (null: it is not there), `streams` are those
// that were opened.
let solve: Schemas["SolveDetail"] | null;
let streams: Stream[];
let asked: number;

class Stream {
  open = true;
  private readonly heard: Record<string, (event: unknown) => void> = {};
  constructor(readonly url: string) {
    streams.push(this);
  }
  addEventListener(name: string, listener: (event: unknown) => void): void {
    this.heard[name] = listener;
  }
  close(): void {
    this.open = false;
  }
  send(event: Schemas["SolveEvent"]): void {
    this.heard["solve"]?.({ data: JSON.stringify(event) });
  }
  breakOff(): void {
    this.heard["error"]?.({});
  }
}

function solveIn(state: Schemas["Solve"]["state"], saves = 0): Schemas["SolveDetail"] {
  const part = { id: "one", state, saves, curve: points(10) };
  return part as unknown as Schemas["SolveDetail"];
}

function points(...iterations: number[]): Schemas["CurvePoint"][] {
  const rest = { seconds: 1, exploitability: 1, regret: null };
  return iterations.map((iteration) => ({ iteration, ...rest }));
}

function answer(): Promise<Response> {
  asked += 1;
  return solve ? Promise.resolve(Response.json(solve)) : Promise.reject(new TypeError("refused"));
}

const settled = () => vi.advanceTimersByTimeAsync(0);
const openStreams = () => streams.filter((stream) => stream.open);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", answer);
  vi.stubGlobal("EventSource", Stream);
  streams = [];
  asked = 0;
  solve = solveIn("running");
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a solve that is watched", () => {
  it("is the same for all, with one stream while somebody listens", async () => {
    const live = watch("one");
    expect(watch("one")).toBe(live);
    const leave = [live.follow(), live.follow()];
    await settled();
    expect(streams.map((stream) => stream.url)).toEqual(["/api/solves/one/events"]);
    leave[0]?.();
    expect(openStreams()).toHaveLength(1);
    leave[1]?.();
    expect(openStreams()).toHaveLength(0);
  });

  it("tells what the stream tells, and ends with it", async () => {
    const live = new Live("one");
    live.follow();
    await settled();
    streams[0]?.send({ solve: solveIn("running", 1), points: points(10, 20) });
    expect([live.saves, live.goesOn, live.points.length]).toEqual([1, true, 2]);
    streams[0]?.send({ solve: solveIn("done", 2), points: points(30) });
    expect([live.saves, live.goesOn, live.points.length]).toEqual([2, false, 3]);
    expect(openStreams()).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asked, streams.length]).toEqual([1, 1]);
  });

  it("is asked for again when the stream breaks, until the server is back", async () => {
    const live = new Live("one");
    live.follow();
    await settled();
    solve = null;
    streams[0]?.breakOff();
    await vi.advanceTimersByTimeAsync(3000);
    expect(live.problem?.status).toBe(0);
    expect(live.solve?.state).toBe("running"); // what was told last
    solve = solveIn("interrupted", 3);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(live.problem).toBeNull();
    expect([live.solve?.state, live.saves]).toEqual(["interrupted", 3]);
    expect(openStreams()).toHaveLength(0);
  });

  it("is listened to again once it goes on", async () => {
    solve = solveIn("stopped");
    const live = new Live("one");
    live.follow();
    await settled();
    expect(streams).toHaveLength(0);
    solve = solveIn("starting");
    live.accept(solve);
    await settled();
    expect(openStreams()).toHaveLength(1);
  });

  it("does not hear what was told before it was changed", async () => {
    const live = new Live("one");
    live.follow();
    await settled();
    solve = solveIn("paused");
    live.accept(solve);
    // Events that are on their way, and an answer to an older question, tell of a solve that runs.
    expect(openStreams()).toHaveLength(0);
    await settled();
    expect([live.solve?.state, openStreams().length]).toEqual(["paused", 1]);
  });

  it("that was stopped is not told to go on by an older answer", async () => {
    const answers: ((solve: Schemas["SolveDetail"]) => void)[] = [];
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
      return new Promise((resolve, reject) => {
        answers.push((told) => resolve(Response.json(told)));
        signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      });
    });
    const live = new Live("one");
    live.follow();
    live.accept(solveIn("stopped"));
    answers[0]?.(solveIn("running"));
    await settled();
    expect(live.solve?.state).toBe("stopped");
    answers[1]?.(solveIn("stopped", 2));
    await settled();
    expect([live.solve?.state, live.saves, streams.length]).toEqual(["stopped", 2, 0]);
  });

  it("is left alone when nobody listens any more", async () => {
    solve = null;
    const live = new Live("one");
    const leave = live.follow();
    await settled();
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(1);
  });

  it("that does not exist is not asked for again", async () => {
    const refusal = { message: "no such solve", problems: [] };
    vi.stubGlobal("fetch", () => {
      asked += 1;
      return Promise.resolve(Response.json(refusal, { status: 404 }));
    });
    const live = new Live("none");
    live.follow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asked, live.problem?.message]).toEqual([1, "no such solve"]);
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import { fileName, parts, RefusedError } from "./client";

/** An answer that comes in these pieces. */
function answers(status: number, ...pieces: string[]): void {
  const body = new ReadableStream({
    start(stream) {
      for (const piece of pieces) stream.enqueue(new TextEncoder().encode(piece));
      stream.close();
    },
  });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, { status })));
}

async function collected(): Promise<object[]> {
  const found: object[] = [];
  for await (const part of parts("/somewhere", new AbortController().signal)) found.push(part);
  return found;
}

afterEach(() => vi.unstubAllGlobals());

describe("an answer that is saved", () => {
  it("has the name that the server gives it", () => {
    expect(fileName('attachment; filename="My-game-pio.zip"')).toBe("My-game-pio.zip");
    expect(fileName(null)).toBe("allstreets");
  });
});

describe("an answer that comes line by line", () => {
  it("is read however it was cut", async () => {
    answers(200, '{"a":1}\n{"b"', ':"é', '2"}\n', '{"c":3}\n');
    expect(await collected()).toEqual([{ a: 1 }, { b: "é2" }, { c: 3 }]);
  });

  it("may be refused before it begins, and on the way", async () => {
    answers(404, '{"message":"no such line","problems":[]}');
    await expect(collected()).rejects.toEqual(new RefusedError(404, "no such line"));
    answers(200, '{"a":1}\n', '{"message":"damaged","problems":[]}\n');
    await expect(collected()).rejects.toThrow("damaged");
  });
});

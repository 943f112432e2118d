import { describe, expect, it } from "vitest";
import { decoded, MOST_LETTERS, readFiles, tooLong } from "./histories";

describe("hand histories from files", () => {
  it("are read whatever they are written in", () => {
    expect(decoded(new TextEncoder().encode("Zoë"))).toBe("Zoë");
    expect(decoded(new Uint8Array([0x5a, 0x6f, 0xeb]))).toBe("Zoë");
    expect(decoded(new Uint8Array([0xff, 0xfe, 0x5a, 0, 0x6f, 0, 0xeb, 0]))).toBe("Zoë");
    expect(decoded(new Uint8Array([0xfe, 0xff, 0, 0x5a, 0, 0x6f, 0, 0xeb]))).toBe("Zoë");
  });
  it("are put together, hand after hand", async () => {
    expect(await readFiles([new File(["a"], "1"), new File(["b"], "2")])).toBe("a\n\n\nb");
  });
  it("have an end", () => {
    expect(tooLong("x")).toBe("");
    expect(tooLong("x".repeat(MOST_LETTERS + 1))).toContain("use allstreets review");
  });
});

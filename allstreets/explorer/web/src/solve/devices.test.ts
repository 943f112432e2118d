import { describe, expect, it } from "vitest";
import { choices } from "./devices";

const CPU = { device: "cpu", name: "2 processors" };
const GPU = { device: "cuda", name: "NVIDIA H200" };

describe("devices", () => {
  it("are offered where there is a GPU", () => {
    expect(choices([CPU, GPU], "cpu")).toEqual([CPU, GPU]);
    expect(choices([CPU], "cpu")).toEqual([]);
  });

  it("of another machine can be changed", () => {
    expect(choices([CPU], "cuda")).toEqual([CPU, { device: "cuda", name: "cuda: not here" }]);
  });

  it("are not shown before they are known", () => {
    expect(choices([], "cpu")).toEqual([]);
  });
});

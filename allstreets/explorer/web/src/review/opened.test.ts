import { expect, it } from "vitest";
import { heard } from "../common/held-answers";
import { OpenedText } from "./opened.svelte";

/** A file that is read when the test says so. */
function held(name: string, text: string): { file: File; read: () => Promise<void> } {
  let read: () => void = () => undefined;
  const bytes = new Promise<ArrayBuffer>((resolve) => {
    read = () => resolve(new TextEncoder().encode(text).buffer);
  });
  const file = { name, arrayBuffer: () => bytes } as unknown as File;
  return {
    file,
    read: () => {
      read();
      return heard();
    },
  };
}

it("has the text of the files that were picked last", async () => {
  const opened = new OpenedText();
  const [slow, quick] = [held("slow.txt", "old"), held("quick.txt", "new")];
  void opened.open([slow.file]);
  void opened.open([quick.file]);
  expect(opened.busy).toBe(true);
  await quick.read();
  await slow.read();
  expect([opened.text, opened.name, opened.busy]).toEqual(["new", "quick.txt", false]);
});

it("keeps what was typed after files were picked", async () => {
  const opened = new OpenedText();
  const slow = held("slow.txt", "old");
  void opened.open([slow.file]);
  opened.write("typed");
  await slow.read();
  expect([opened.text, opened.busy]).toEqual(["typed", false]);
});

it("stays as it is where no file was picked", async () => {
  const opened = new OpenedText();
  opened.write("typed");
  await opened.open([]);
  expect(opened.text).toBe("typed");
});

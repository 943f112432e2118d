// A text that is written in a field, or comes from files: the last change counts.

import { Asked } from "../common/asked.svelte";
import { readFiles } from "./histories";

export class OpenedText {
  text = $state("");
  name = $state(""); // of the files that it comes from

  private readonly reading = new Asked<string>();

  /** Whether files are still being read: the text is not theirs yet. */
  get busy(): boolean {
    return this.reading.loading;
  }

  write(text: string): void {
    this.reading.drop();
    this.text = text;
  }

  async open(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    if ((await this.reading.again(() => readFiles(files))) !== "answered") return;
    this.text = this.reading.value ?? "";
    this.name = files.map((file) => file.name).join(", ").slice(0, 200);
  }
}

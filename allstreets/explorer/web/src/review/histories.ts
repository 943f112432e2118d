// Hand histories from files: sites do not always write UTF-8.

export const MOST_LETTERS = 4_000_000; // that the server takes

/** The text of a file, by its mark, or as UTF-8, or else as Latin-1. */
export function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The texts of several files in one, hands apart from each other. */
export async function readFiles(files: Iterable<File>): Promise<string> {
  const texts = [];
  for (const file of files) texts.push(decoded(new Uint8Array(await file.arrayBuffer())));
  return texts.join("\n\n\n");
}

/** The problem with a text before it is sent; "": none. */
export function tooLong(text: string): string {
  if (text.length <= MOST_LETTERS) return "";
  const most = (MOST_LETTERS / 1e6).toFixed(0);
  return `${(text.length / 1e6).toFixed(1)} million letters are too many for the page, which takes ${most} million: use allstreets review`;
}

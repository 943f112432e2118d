// Facts that the server sends once: its version, and the order of the 169 hands in all lists.

import { get, type Schemas } from "../api/client";

let asked: Promise<Schemas["About"]> | null = null;

export function about(): Promise<Schemas["About"]> {
  asked ??= get("/api/about").catch((error: unknown) => {
    asked = null; // the next one asks again
    throw error;
  });
  return asked;
}

// Requests to the server. Paths, parameters and answers are typed by its OpenAPI document.

import type { components, paths } from "./schema";
import { waiting } from "./waiting.svelte";

export type Schemas = components["schemas"];

type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Success<T> = T extends { responses: infer R }
  ? R extends { 200: infer Ok }
    ? Json<Ok>
    : R extends { 201: infer Created }
      ? Json<Created>
      : undefined
  : never;
type Part<T, K extends string> = T extends { parameters: { [name in K]?: infer P } } ? P : undefined;
type Body<T> = T extends { requestBody: { content: { "application/json": infer B } } }
  ? B
  : undefined;

type Verb = "get" | "post" | "delete";
type With<V extends Verb> = {
  [P in keyof paths]: paths[P] extends Record<V, object> ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, V extends Verb> = paths[P] extends Record<V, infer O>
  ? O
  : never;

interface Options<T> {
  path?: Part<T, "path">;
  query?: Part<T, "query">;
  body?: Body<T>;
  signal?: AbortSignal;
}

/** A refusal from the server, in words for people. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Schemas["Problem"][] = [],
  ) {
    super(message);
    this.name = "RefusedError";
  }
}

/** The address of a route with its parameters filled in. */
export function address(
  route: string,
  path: Record<string, string> = {},
  query: Record<string, string | number | null | undefined> = {},
): string {
  const filled = route.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text ? `${filled}?${text}` : filled;
}

/** The message when no answer comes. */
function lost(error: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted) return error;
  return new RefusedError(0, "The server does not answer: start `allstreets explore` again.");
}

async function send(where: string, request: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await waiting.for(fetch(where, request));
  } catch (error) {
    throw lost(error, request.signal);
  }
  if (!answer.ok) {
    const refusal = (await answer.json().catch(() => null)) as Schemas["Refusal"] | null;
    throw new RefusedError(
      answer.status,
      refusal?.message ?? `The server answered ${answer.status}.`,
      refusal?.problems ?? [],
    );
  }
  return answer;
}

async function ask(verb: Verb, route: string, options: Options<unknown>): Promise<unknown> {
  const where = address(
    route,
    options.path as Record<string, string> | undefined,
    options.query as Record<string, string> | undefined,
  );
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const answer = await send(where, {
    method: verb.toUpperCase(),
    ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  return answer.status === 204 ? undefined : answer.json().catch(() => null);
}

export function get<P extends With<"get">>(
  route: P,
  options: Options<Operation<P, "get">> = {},
): Promise<Success<Operation<P, "get">>> {
  return ask("get", route, options) as Promise<Success<Operation<P, "get">>>;
}

export function post<P extends With<"post">>(
  route: P,
  options: Options<Operation<P, "post">> = {},
): Promise<Success<Operation<P, "post">>> {
  return ask("post", route, options) as Promise<Success<Operation<P, "post">>>;
}

export function remove<P extends With<"delete">>(
  route: P,
  options: Options<Operation<P, "delete">> = {},
): Promise<Success<Operation<P, "delete">>> {
  return ask("delete", route, options) as Promise<Success<Operation<P, "delete">>>;
}

/** The name under which the server wants an answer to be saved. */
export function fileName(disposition: string | null): string {
  return /filename="([^"]+)"/.exec(disposition ?? "")?.[1] ?? "allstreets";
}

const KEPT = 60_000; // milliseconds: browsers begin to save a file immediately

/** Save an answer as a file and return its name; a refusal is an error as everywhere. */
export async function download(where: string): Promise<string> {
  const answer = await send(where, {});
  const content = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = content;
  link.download = fileName(answer.headers.get("Content-Disposition"));
  link.click();
  setTimeout(() => URL.revokeObjectURL(content), KEPT);
  return link.download;
}

/** The messages of an answer that comes line by line; one that breaks off ends with a refusal. */
export async function* parts<T extends object>(
  where: string,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const answer = await send(where, { signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const piece = await reader?.read().catch((error: unknown) => {
      throw lost(error, signal);
    });
    if (piece === undefined || piece.done) return;
    const lines = (rest + piece.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as T | Schemas["Refusal"];
      if ("message" in message) throw new RefusedError(422, message.message, message.problems);
      yield message;
    }
  }
}

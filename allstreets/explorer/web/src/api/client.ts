// Requests to the server. Paths, parameters and answers are typed by its OpenAPI document.

import type { components, paths } from "./schema";

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

/** An answer that says no, in words for people. */
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

async function ask(verb: Verb, route: string, options: Options<unknown>): Promise<unknown> {
  const where = address(
    route,
    options.path as Record<string, string> | undefined,
    options.query as Record<string, string> | undefined,
  );
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  let answer: Response;
  try {
    answer = await fetch(where, {
      method: verb.toUpperCase(),
      ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RefusedError(0, "The server does not answer: start `allstreets explore` again.");
  }
  if (answer.status === 204) return undefined;
  const data: unknown = await answer.json().catch(() => null);
  if (!answer.ok) {
    const refusal = data as Schemas["Refusal"] | null;
    throw new RefusedError(
      answer.status,
      refusal?.message ?? `The server answered ${answer.status}.`,
      refusal?.problems ?? [],
    );
  }
  return data;
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

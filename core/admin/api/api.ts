import { IttyRouter } from "itty-router";
import { readJsonBody } from "../../body/json-body.ts";
import { RouterError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import type { z } from "../../contract/options.ts";
import { thrownText } from "../../contract/thrown-text.ts";
import { nextTurn } from "../../runtime/next-turn.ts";
import type { EventStreams } from "../event-streams.ts";
import { type AdminAccess, checkChange, checkJson, checkRead, etagOf } from "./permission.ts";
import { bodyTooLarge, MAX_BODY_BYTES, Problem, problemResponse } from "./problem.ts";
import { type ApiCall, type ApiResult, type ApiRoute, changes } from "./route.ts";
import { streamResponse } from "./stream-response.ts";

export interface ApiOptions {
  readonly routes: readonly ApiRoute[];
  /** The observers' streams, whose paths follow those of the routes. */
  readonly streams: Pick<EventStreams, "has" | "listen">;
  readonly access: () => AdminAccess;
  /** Of the config: grows with every change of it. */
  readonly generation: () => number;
  readonly log: Log;
}

/**
 * The admin API as a Web-standard handler, which any server can mount; `caller` is who asks, for the log. Checking the Host header is
 * the server's part. Never rejects.
 */
export type AdminApi = (request: Request, caller: string) => Promise<Response>;

const API_BASE = "/api/v1";

/** What itty-router matches; it writes the parameters of the path onto it. */
interface Matching {
  readonly method: string;
  readonly url: string;
  readonly request: Request;
  params?: Readonly<Record<string, string>>;
}

export function adminApi(options: ApiOptions): AdminApi {
  const router = IttyRouter({ base: API_BASE });
  const turn = turns();
  for (const route of options.routes) {
    const add = { GET: router.get, POST: router.post, PUT: router.put, PATCH: router.patch, DELETE: router.delete }[route.method];
    add(route.path, async ({ request, params }: Matching, caller: string) => {
      if (route.body !== undefined) await turn();
      return serve(route, request, params ?? {}, caller, options);
    });
  }
  return async (request, caller) => {
    // HEAD is GET without the body, which the server leaves out.
    const method = request.method === "HEAD" ? "GET" : request.method;
    try {
      const matching: Matching = { method, url: request.url, request };
      const response = (await router.fetch(matching, caller)) as Response | undefined;
      if (response !== undefined) return response;
      const { pathname } = new URL(request.url);
      const methods = router.routes.filter(([, pattern]) => pattern.test(pathname)).map(([name]) => name);
      const path = pathname.startsWith(API_BASE) ? pathname.slice(API_BASE.length) : "";
      if (methods.length > 0 || !options.streams.has(path)) throw noRoute([...new Set(methods)]);
      if (method !== "GET") throw noRoute(["GET"]);
      checkRead(request.headers.get("authorization") ?? undefined, options.access());
      return streamResponse(request, path, options.streams);
    } catch (thrown) {
      return problemResponse(problemOf(thrown, request, options.log));
    }
  };
}

/** What it returns resolves for one caller in each turn of the event loop: many large bodies at once must not hold up other requests. */
function turns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise(nextTurn));
    return last;
  };
}

async function serve(
  route: ApiRoute,
  request: Request,
  params: Readonly<Record<string, string>>,
  caller: string,
  { access, generation, log }: ApiOptions,
): Promise<Response> {
  const isChange = changes(route);
  const versionNow = route.version ?? (() => String(generation()));
  const author = isChange ? checkChange(request.headers, access(), versionNow()) : "";
  if (!isChange) checkReader(route, request.headers, access());
  const call: ApiCall = {
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decoded(value)])),
    query: new URL(request.url).searchParams,
    body: route.body === undefined ? undefined : checkedBody(await readBody(request), route.body),
    ifMatch: request.headers.get("if-match"),
    caller: author === "" ? caller : `${author} (${caller})`,
  };
  const result = await route.run(call);
  if (isChange) logChange(route, call, request.headers.get("user-agent") ?? "", result, log);
  return Response.json(result.document, { headers: { etag: etagOf(versionNow()) } });
}

function checkReader({ method, isOpen = false }: ApiRoute, headers: Headers, access: AdminAccess): void {
  const isWork = method !== "GET";
  if (isWork) checkJson(headers);
  if (!isOpen) checkRead(headers.get("authorization") ?? undefined, access, isWork);
}

function noRoute(methods: readonly string[]): Problem {
  if (methods.length === 0)
    return new Problem(404, "unknown_path", `There is no such path; ${API_BASE}/openapi.json lists all of them.`);
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].join(", ");
  return new Problem(405, "method_not_allowed", `Use one of: ${allow}.`, { allow });
}

function problemOf(thrown: unknown, request: Request, log: Log): Problem {
  if (thrown instanceof Problem) return thrown;
  log.error("A request to the admin API failed", { path: new URL(request.url).pathname, cause: thrownText(thrown) });
  return new Problem(500, "internal_error", "The request failed inside the router; its log has the cause.");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem(400, "bad_path", "The path has a % that does not begin an encoded character; encode it as %25.");
  }
}

/** The body as JSON; an empty one is an empty object. */
async function readBody(request: Request): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    length += part.value.length;
    if (length > MAX_BODY_BYTES) throw bodyTooLarge();
    parts.push(part.value);
  }
  if (length === 0) return {};
  const bytes = joined(parts, length);
  try {
    // Runtimes take a second to parse what is nested very deeply.
    readJsonBody(bytes, NO_KEYS, DEEPEST);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (thrown) {
    const detail = thrown instanceof RouterError ? thrown.message : "The body is not a JSON document in UTF-8; correct it.";
    throw new Problem(400, "invalid_json", detail);
  }
}

const NO_KEYS = { keys: [] };
const DEEPEST = 64;

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Each may be a fault, and to find and describe one takes microseconds in which no request is served. */
const MOST_VALUES = 2_000;
const MOST_FAULTS = 20;

function checkedBody(value: unknown, schema: z.ZodType): unknown {
  if (hasMoreValues(value, MOST_VALUES)) throw new Problem(413, "too_many_values", TOO_MANY_VALUES);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const faults = issues.slice(0, MOST_FAULTS).map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  if (issues.length > MOST_FAULTS) faults.push(`and ${issues.length - MOST_FAULTS} more`);
  throw new Problem(400, "invalid_body", "The body does not have the shape that this path takes; see faults.", { faults });
}

const TOO_MANY_VALUES = `The body has more than ${MOST_VALUES} values; send a shorter one, or write a large rewrite into a config file.`;

/** Whether there are more than `most` values in lists and objects, at all depths. */
function hasMoreValues(value: unknown, most: number): boolean {
  const left = [value];
  let seen = 0;
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Object.values(next)) {
      seen += 1;
      if (seen > most) return true;
      left.push(inner);
    }
  }
  return false;
}

const LONGEST_LOGGED = 2_000;

function logChange({ method }: ApiRoute, { caller }: ApiCall, agent: string, { change }: ApiResult, log: Log): void {
  if (change === undefined) return;
  const { what, before, after } = change;
  const text = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, LONGEST_LOGGED);
  const by = { by: caller, agent: agent.slice(0, 100) };
  log.info("Changed through the admin API", { ...by, method, what, before: text(before), after: text(after) });
}

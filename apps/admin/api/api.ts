import { IttyRouter } from "itty-router";
import type { Log } from "../../../core/contract/log.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";
import type { EventStreams } from "../event-streams.ts";
import { type AdminAccess, checkChange, checkJson, checkRead, checkVersion, etagOf } from "../permission.ts";
import { Problem, problemResponse } from "../problem.ts";
import type { Turn } from "../turns.ts";
import { readBody } from "./read-body.ts";
import { type ApiCall, type ApiResult, type ApiRoute, changes } from "./route.ts";
import { streamResponse } from "./stream-response.ts";

export interface ApiOptions {
  readonly routes: readonly ApiRoute[];
  /** The observers' streams, whose paths follow those of the routes. */
  readonly streams: EventStreams;
  readonly access: () => AdminAccess;
  readonly turn: Turn;
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
  for (const route of options.routes) {
    const add = { GET: router.get, POST: router.post, PUT: router.put, PATCH: router.patch, DELETE: router.delete }[route.method];
    add(route.path, ({ request, params }: Matching, caller: string) => serve(route, request, params ?? {}, caller, options));
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

async function serve(
  route: ApiRoute,
  request: Request,
  params: Readonly<Record<string, string>>,
  caller: string,
  { access, generation, turn, log }: ApiOptions,
): Promise<Response> {
  const isChange = changes(route);
  const versionNow = route.version ?? (() => String(generation()));
  const author = isChange ? checkChange(request.headers, access()) : "";
  if (!isChange) checkReader(route, request.headers, access());
  // A change is made also if who asked for it does not wait for the response.
  const isOver = () => !isChange && request.signal.aborted;
  await turn(isOver);
  if (isOver()) throw new Problem(400, "client_left", "The client left before its turn came.");
  const call: ApiCall = {
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decoded(value)])),
    query: new URL(request.url).searchParams,
    body: route.body === undefined ? undefined : await readBody(request, route.body),
    ifMatch: request.headers.get("if-match"),
    caller: author === "" ? caller : `${author} (${caller})`,
  };
  // Now, because others may have changed it while the body was read.
  if (isChange) checkVersion(call.ifMatch, versionNow());
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

const LONGEST_LOGGED = 2_000;

function logChange({ method }: ApiRoute, { caller }: ApiCall, agent: string, { change }: ApiResult, log: Log): void {
  if (change === undefined) return;
  const { what, before, after } = change;
  const text = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, LONGEST_LOGGED);
  const by = { by: caller, agent: agent.slice(0, 100) };
  log.info("Changed through the admin API", { ...by, method, what, before: text(before), after: text(after) });
}

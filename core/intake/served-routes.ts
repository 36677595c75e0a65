import type { ActiveConfig, RouteParser } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import { pathPlaces } from "../contract/path-pattern.ts";
import { isProbePath, PROBE_PATHS } from "../own-routes.ts";

/** The parsers of a path by their methods: those that name it; else, where nothing else does, those of the first pattern that it fits. */
export function parsersAt(path: string, { routes, ownRoutes }: ActiveConfig): ReadonlyMap<string, RouteParser> | undefined {
  const named = routes.get(path);
  if (named !== undefined || isProbePath(path) || ownRoutes.isNamed(path)) return named;
  for (const [pattern, methods] of routes) if (pattern.includes("{") && pathPlaces(pattern, path) !== undefined) return methods;
  return undefined;
}

/** The error for a path that is not served (404), or not with this method (405). */
export function noSuchRoute(path: string, config: ActiveConfig): RouterError {
  const allowed = methodsOf(path, config);
  if (allowed !== "") return new RouterError("method_not_allowed", `Use ${allowed} for this path.`, { allow: allowed });
  const meant = meantPath(path, config);
  if (meant !== undefined) return new RouterError("unknown_path", `The path is ${meant} here. ${BASE_URLS}`);
  const page = path === "/" ? "The status page is on the admin port (spec.admin), by default http://127.0.0.1:9090/. " : "";
  const text = `${page}This router does not serve that path; it serves ${servedPaths(config)}. ${BASE_URLS}`;
  return new RouterError("unknown_path", text);
}

/** Paths of parsers that an error names. */
const MOST_NAMED = 12;
const BASE_URLS = "The base URL of OpenAI's clients ends in /v1, that of Anthropic's is the same without /v1.";

/** The longest served path with whose end behind /v1 this one ends: the base URL had another beginning. */
function meantPath(path: string, { routes, ownRoutes }: ActiveConfig): string | undefined {
  const asked = path.replace(/\/+$/, "");
  const served = [...routes.keys(), ...ownRoutes.all.filter(({ isRefused }) => !isRefused).map((route) => route.path)];
  return served
    .filter((each) => each.startsWith("/v1/") && asked.endsWith(each.slice("/v1".length)))
    .sort((one, other) => other.length - one.length)[0];
}

/** The methods with which a path is served, such as "GET, HEAD"; "" for a path that is not served. */
export function methodsOf(path: string, config: ActiveConfig): string {
  const local = isProbePath(path) ? ["GET", "HEAD"] : [];
  return [...new Set([...local, ...config.ownRoutes.methodsAt(path), ...(parsersAt(path, config)?.keys() ?? [])])].join(", ");
}

function servedPaths({ routes, ownRoutes }: ActiveConfig): string {
  const parsed = [...routes].flatMap(([path, methods]) => [...methods.keys()].map((method) => `${method} ${path}`));
  const more = parsed.splice(MOST_NAMED).length;
  // What replicas answer, and what asks about the router. Adapters are the operator's.
  const own = ownRoutes.all.filter((route) => route.method === "GET" && !route.path.endsWith("*") && !route.isRefused);
  const gets = [...own.map(({ path }) => path), ...PROBE_PATHS].map((path) => `GET ${path}`);
  return [...parsed, ...(more > 0 ? [`${more} more paths of engines`] : []), ...gets].join(", ");
}

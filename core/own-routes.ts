import type { OwnRoute } from "./contract/slots/answer.ts";
import type { NamedFeature } from "./slots.ts";

/** Paths that ask how the router is, for GET and HEAD. Who asks is a machine, every few seconds, so observers are not told of it. */
export const PROBE_PATHS: readonly string[] = ["/health", "/ready"];

export function isProbePath(path: string): boolean {
  return PROBE_PATHS.includes(path);
}

/** The paths that features answer, beside those of the parsers. */
export class OwnRoutes {
  readonly all: readonly OwnRoute[];

  constructor(features: readonly NamedFeature[] = []) {
    this.all = features.flatMap(({ plugin }) => plugin.routes ?? []);
  }

  /** What answers a request with this method at this path; undefined if no feature does. */
  find(method: string, path: string): OwnRoute | undefined {
    const wanted = method === "HEAD" ? "GET" : method;
    return this.all.find((route) => route.method === wanted && isAt(path, route));
  }

  /** Whether a feature serves exactly this path. */
  isNamed(path: string): boolean {
    return this.all.some((route) => route.path === path && !route.isRefused);
  }

  /** The methods with which features answer the path. */
  methodsAt(path: string): readonly string[] {
    return this.all.filter((route) => isAt(path, route)).flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : method));
  }
}

/** A feature that has all paths does not have the router's own: nobody would learn that the router can't serve. */
function isAt(path: string, route: OwnRoute): boolean {
  if (isProbePath(path)) return false;
  return route.path.endsWith("/*") ? path.startsWith(route.path.slice(0, -1)) : path === route.path;
}

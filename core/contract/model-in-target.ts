import { RouterError } from "./errors.ts";
import { pathPlaces } from "./path-pattern.ts";
import type { Span } from "./span.ts";

/** The model that a request names, and where, as in `ParsedBody`. */
export interface FoundModel {
  readonly model: string;
  readonly modelSpan: Span;
  readonly modelIn: "text" | "target" | undefined;
}

/** Of a request that names no model. */
export const NO_MODEL: FoundModel = { model: "", modelSpan: [-1, -1], modelIn: undefined };

/** The model that stands for `{name}` of the pattern. */
export function modelInPath(pattern: string, name: string, path: string): FoundModel {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, each]) => each);
  const span = pathPlaces(pattern, path)?.[names.indexOf(name)];
  return span === undefined ? NO_MODEL : { model: decoded(path.slice(span[0], span[1])), modelSpan: span, modelIn: "target" };
}

/**
 * The model at this key of the query. Engines differ in which of two they take, so two are refused.
 *
 * @example
 * const { model } = modelInQuery("model", "/v1/voices", "lang=en&model=fast");
 */
export function modelInQuery(name: string, path: string, query: string): FoundModel {
  let found = NO_MODEL;
  let at = path.length + 1;
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    if (equals >= 0 && decoded(pair.slice(0, equals)) === name) {
      if (found !== NO_MODEL) throw new RouterError("bad_request", "The query names the model twice; name it once.");
      const value = pair.slice(equals + 1).replaceAll("+", " ");
      if (value !== "") found = { model: decoded(value), modelSpan: [at + equals + 1, at + pair.length], modelIn: "target" };
    }
    at += pair.length + 1;
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RouterError("bad_request", "The path or the query is not well percent-encoded; encode it as UTF-8.");
  }
}

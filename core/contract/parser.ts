import type { BodyView } from "./body-view.ts";
import type { Dialect } from "./errors.ts";
import type { ParsedBody } from "./request.ts";

/**
 * What does this body ask for? One parser serves one API.
 *
 * @example
 * create: () => ({
 *   routes: [{ method: "POST", path: "/v1/rerank" }],
 *   dialect: "openai",
 *   keys: ["model", "query"],
 *   parse: (body) => ({ ...defaults, model: body.text("model") ?? "", modelSpan: body.span("model") ?? [-1, -1] }),
 * })
 */
export interface Parser {
  /** Paths it serves. */
  readonly routes: readonly Route[];
  readonly dialect: Dialect;
  /** Top-level keys whose spans it wants; empty means the body is not looked at. */
  readonly keys: readonly string[];
  /** Events that a stream begins with before the prompt is worked off; without it, none. */
  readonly openingEvents?: number;
  /** Throws RouterError for a body that can't be routed. */
  parse(body: BodyView): ParsedBody;
  dispose?(): void;
}

/** @public */
export interface Route {
  readonly method: string;
  readonly path: string;
}

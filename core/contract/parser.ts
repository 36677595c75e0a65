import type { BodyView } from "./body-view.ts";
import type { Dialect } from "./errors.ts";
import type { ParsedBody } from "./request.ts";
import type { ResponseShape } from "./response-shape.ts";

/**
 * What does the body ask for? One parser serves one API.
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
  /** Paths that it serves. */
  readonly routes: readonly Route[];
  readonly dialect: Dialect;
  /** Top-level keys that it reads; with an empty list the body is not scanned at all. */
  readonly keys: readonly string[];
  /** Those of `keys` that hold a conversation, in which images, audio and files are looked for; none by default. */
  readonly partKeys?: readonly string[];
  /** Events at the beginning of a stream that come before the prompt is processed; 0 by default. */
  readonly openingEvents?: number;
  /** By a route's path: what its responses have. Responses of other paths are passed on whatever they are. */
  readonly responses?: Readonly<Record<string, ResponseShape>>;
  /** `path` is the route's. Throws RouterError for a body that can't be routed. */
  parse(body: BodyView, path: string): ParsedBody;
  dispose?(): void;
}

/** @public */
export interface Route {
  readonly method: string;
  readonly path: string;
}

import type { BodyView } from "./body-view.ts";
import type { Dialect } from "./errors.ts";
import type { PromptPart } from "./prompt-part.ts";
import type { HeaderView, ParsedBody } from "./request.ts";
import type { ResponseShape } from "./response-shape.ts";
import type { Span } from "./span.ts";

/** What is noted of a body. */
export interface BodyKeys {
  /** Top-level keys that are read; with an empty list the body is not scanned at all. */
  readonly keys: readonly string[];
  /** Those of `keys` that hold a conversation, in which images, audio and files are looked for; none by default. */
  readonly partKeys?: readonly string[];
}

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
export interface Parser extends BodyKeys {
  /** Paths that it serves. */
  readonly routes: readonly Route[];
  readonly dialect: Dialect;
  /** Events at the beginning of a stream that come before the prompt is processed; 0 by default. */
  readonly openingEvents?: number;
  /** By a route's path: what its responses have. Responses of other paths are passed on whatever they are. */
  readonly responses?: Readonly<Record<string, ResponseShape>>;
  /**
   * What reads the body of a request to this path, if it is no JSON; undefined: it is JSON, and `keys` are noted. Throws RouterError for a
   * media type that the path does not take.
   */
  reader?(path: string, headers: HeaderView): BodyReader | undefined;
  /** `path` and `query` (without the question mark) are the request's. Throws RouterError for a body that can't be routed. */
  parse(body: BodyView, path: string, query: string): ParsedBody;
  dispose?(): void;
}

/** Reads a body while it comes, and notes where its fields are. Its methods throw RouterError for a body that can't be routed. */
export interface BodyReader {
  /** More has come: the body so far is `bytes` up to `length`. `bytes` may be another array than before. */
  push(bytes: Uint8Array, length: number): void;
  /** The whole body has come. */
  finish(bytes: Uint8Array, length: number): void;
  readonly parts: readonly PromptPart[];
  /** Where the field's value is; `BodyView.span` gives it. */
  spanOf(field: string): Span | undefined;
}

/** @public */
export interface Route {
  readonly method: string;
  /** Such as "/v1/rerank", or "/v2/models/{model}/infer": each name in braces stands for at least one character of one segment. */
  readonly path: string;
}

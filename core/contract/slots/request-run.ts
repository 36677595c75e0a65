import type { Dialect } from "../errors.ts";
import type { Outcome } from "../outcome.ts";
import type { HeaderView, ParsedBody } from "../request.ts";
import type { Span } from "../span.ts";

/**
 * One request on its way, as features see it. Its parts come one after the other: the head first, then the body, what was parsed, and
 * in the ticket what each stage has done. Features change nothing of it.
 *
 * @example
 * lines: (run) => `x-prompt-tokens: ${run.parsed?.promptTokens}\r\n`
 */
export interface RequestRun {
  /** What is known of the request so far; it is the request's outcome when it has ended. */
  readonly ticket: Outcome;
  readonly head: RequestHead;
  /** Of the request's path, without the question mark; "" if there is none. */
  readonly query: string;
  /** The client's address. */
  readonly peer: string;
  /** In which API's shape errors are told. */
  readonly dialect: Dialect;
  /** The whole body; undefined before it has come. Its memory is the router's: copy what is kept beyond the call. */
  readonly body: RequestBody | undefined;
  /** What the body asks for; undefined before it is parsed, and for requests that no parser reads. */
  readonly parsed: ParsedBody | undefined;
}

export interface RequestBody {
  readonly bytes: Uint8Array;
  /**
   * Where the JSON value of a top-level key is, quotes or brackets included; undefined if the body does not have the key. Throws an
   * Error for a key that neither the parser nor the feature's `bodyKeys` names.
   */
  span(key: string): Span | undefined;
}

/** The first line and the headers of a request. */
export interface RequestHead extends HeaderView {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly target: string;
}

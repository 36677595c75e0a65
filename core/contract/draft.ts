import type { LegRole } from "./decision.ts";

/**
 * The request to send, without the endpoint's address.
 *
 * @example
 * const body = [new TextEncoder().encode('{"model":"base"}')];
 * const draft = { method: "POST", pathAndQuery: "/v1/completions", lines: "Content-Length: 16\r\n", credentialLines: "", body, changedBy: [] };
 */
export interface Draft {
  readonly method: string;
  /** Path and query as the client sent them, but for a model's name that was rewritten. */
  readonly pathAndQuery: string;
  /** Complete header lines, framing included; Host and credentials are added for each endpoint, `traceparent` for each try. */
  readonly lines: string;
  /** The lines with the client's own key, for endpoints to which the router shows none; "" where they are among `lines`. */
  readonly credentialLines: string;
  /** The body's bytes in parts: the client's, or the plain ones with the target's name, and perhaps other members, spliced in. */
  readonly body: readonly Uint8Array[];
  /**
   * Who has made the body another one than the client's: types of features, and "model" for the target's name. Empty: the replica gets the
   * client's bytes.
   */
  readonly changedBy: readonly string[];
  /** What its endpoint does of the request; absent: all of it. */
  readonly role?: LegRole;
}

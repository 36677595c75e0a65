import type { BodyMember } from "../../../core/contract/body-member.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { RequestBody, RequestRun } from "../../../core/contract/slots/request-run.ts";

/** How the cache of a prompt gets from the endpoint that processed it to the one that generates: one file for each dialect. */
export interface Transfer {
  /** Its name in the config. */
  readonly type: string;
  /**
   * first: the prompt's request ends before the answer's begins. together: both are sent at once. told: the answer's endpoint is told of
   * the other one, and asks it by itself.
   */
  readonly order: "first" | "together" | "told";
  /** Whether an endpoint that generates can do all of a request, too. If not, a pair that failed is followed by another one. */
  readonly answersAlone: boolean;
  /** Where else in a body a client has said where a cache is: a path of keys, for people; undefined if it has not. */
  reservedIn?(body: RequestBody): string | undefined;
  /** Top-level keys of a body that are written. */
  readonly keys: readonly string[];
  /** Those that say where a cache is: no client may send them. */
  readonly reservedKeys: readonly string[];
  /** What the request to the prompt's endpoint has otherwise than the client's; undefined: nothing is sent there. */
  prefillMembers?(run: RequestRun, pair: Pair): readonly BodyMember[];
  /**
   * What the request for the answer has otherwise; undefined: the prompt's endpoint has not said where the cache is.
   *
   * @param response - the whole body of the prompt's response; empty where that is not waited for
   */
  decodeMembers(run: RequestRun, pair: Pair, response: Uint8Array): readonly BodyMember[] | undefined;
  /** told: a header line for the answer's request, with its line end, that names the prompt's endpoint. */
  decodeLine?(prefill: Endpoint): string;
}

/** Two endpoints that serve one request. */
export interface Pair {
  readonly prefill: Endpoint;
  /** A number that no other pair has, in decimal digits, below 2^63. */
  readonly room: string;
}

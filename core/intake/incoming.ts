import type { Named } from "../active-config.ts";
import type { JsonBody } from "../body/json-body.ts";
import type { BodyBuffer } from "../body/receive.ts";
import type { Parser } from "../contract/parser.ts";
import type { Trace } from "../contract/trace.ts";
import type { Head } from "../wire/head.ts";

/** A complete request that is not yet parsed. */
export interface Incoming {
  readonly id: string;
  /** When its head was complete, in milliseconds on the router's clock. */
  readonly headAtMs: number;
  readonly head: Head;
  readonly method: string;
  readonly path: string;
  /** Without the question mark; "" if there is none. */
  readonly query: string;
  readonly peer: string;
  readonly parser: Named<Parser>;
  readonly body: JsonBody;
  /** Absent when the request is not traced. */
  readonly trace?: Trace | undefined;
  /** What keeps the body in memory; absent where nothing is sent to a socket. */
  readonly buffer?: Pick<BodyBuffer, "hold">;
}

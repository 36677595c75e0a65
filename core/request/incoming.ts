import type { Named } from "../active-config.ts";
import type { JsonBody } from "../body/json-body.ts";
import type { Parser } from "../contract/parser.ts";
import type { Head } from "../wire/head.ts";

/** A complete request that is not yet parsed. */
export interface Incoming {
  readonly id: string;
  readonly head: Head;
  readonly path: string;
  /** Without the question mark; "" if there is none. */
  readonly query: string;
  readonly peer: string;
  readonly parser: Named<Parser>;
  readonly body: JsonBody;
}

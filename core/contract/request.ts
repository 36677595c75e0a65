import type { Dialect } from "./errors.ts";
import type { PrefixMatch } from "./prefix-match.ts";

/**
 * Read-only request headers; names in lower case.
 *
 * @example
 * const tier = request.headers.get("x-tier") ?? "standard";
 */
export interface HeaderView {
  get(name: string): string | undefined;
}

/** What a parser read out of a body. Nothing here is a copy of the prompt: spans point into `body`. */
export interface ParsedBody {
  /** The model the client asked for; "" where the API carries none. */
  readonly model: string;
  /** Span of the model's JSON value in the body, quotes included; [-1, -1] where there is none. */
  readonly modelSpan: Span;
  readonly isStream: boolean;
  /** The prompt's bytes, in the order the engine sees them (tools, system, messages). */
  readonly promptSpans: readonly Span[];
  /** Estimated prompt length in tokens. */
  readonly promptTokens: number;
  /** The client's limit on generated tokens; 0 where it gave none. */
  readonly maxOutputTokens: number;
  /** Isolates prefix caches; "" where absent. */
  readonly cacheSalt: string;
  /** Whether a second delivery would only cost work. False where the replica keeps what it made (stored responses). */
  readonly isRepeatable: boolean;
}

/** Half-open byte range [start, end). */
export type Span = readonly [start: number, end: number];

/**
 * One inference request as filters, scorers and pickers see it.
 *
 * @example
 * const uncached = request.promptTokens - request.prefix.matchedTokens(endpoint.slot);
 */
export interface InferenceRequest extends ParsedBody {
  readonly id: string;
  /** Type of the parser that read it: "completions", "messages" … */
  readonly api: string;
  readonly path: string;
  readonly dialect: Dialect;
  readonly headers: HeaderView;
  /** The whole body as it came; empty once the request has ended. */
  readonly body: Uint8Array;
  /** The model name that will be sent on; drawn once, before filters run. */
  readonly target: string;
  /** Name of the rewrite rule that drew the target; "" where no rule matched. */
  readonly rule: string;
  /** `promptTokens` as the parser estimated it, before reports of the replicas corrected it. */
  readonly parsedTokens: number;
  /** How much of the prompt each endpoint is believed to hold already. */
  readonly prefix: PrefixMatch;
}

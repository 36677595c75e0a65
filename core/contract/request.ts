import type { BodyMember } from "./body-member.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Dialect } from "./errors.ts";
import type { PrefixMatch } from "./prefix-match.ts";
import type { CountedPart, PromptPart } from "./prompt-part.ts";
import type { Span } from "./span.ts";

/**
 * Read-only request headers; names in lower case.
 *
 * @example
 * const tier = request.headers.get("x-tier") ?? "standard";
 */
export interface HeaderView {
  get(name: string): string | undefined;
}

/** Something that one replica keeps: of which kind ("responses", "files" …), and its id. */
export interface KeptObject {
  readonly kind: string;
  readonly id: string;
}

/** What a parser read from a body. The prompt is not copied: spans point into `body`. */
export interface ParsedBody {
  /** The model that the client asked for; "" if the API has none. */
  readonly model: string;
  /** Span of the model's JSON value in the body, quotes included; [-1, -1] if there is none. `modelIn` may say that it is elsewhere. */
  readonly modelSpan: Span;
  /** Where `modelSpan` is, if it is no JSON value: "text" is plain text in the body, "target" a part of the path and query. */
  readonly modelIn?: "text" | "target" | undefined;
  readonly isStream: boolean;
  /** The prompt's bytes, in the order in which the engine reads them (tools, system, messages). */
  readonly promptSpans: readonly Span[];
  /** Estimated prompt length in tokens, without the parts that are not text. */
  readonly promptTokens: number;
  /** Parts of the prompt that are not text, each inside one of its spans, in their order; none by default. */
  readonly promptParts?: readonly PromptPart[];
  /** The client's limit on generated tokens, of one choice; 0 if it gave none. */
  readonly maxOutputTokens: number;
  /** How many answers to the same prompt are asked for; 1 by default. */
  readonly choices?: number;
  /** Prompts with different salts never match in the prefix cache; "" if absent. */
  readonly cacheSalt: string;
  /** Span of the salt's JSON value in the body; [-1, -1] if it has none. Absent: the API has no salt, or its body is no JSON object. */
  readonly saltSpan?: Span;
  /** Members that the router writes into the body in place of the client's, beside the model; none by default. A body without a model stays as it is. */
  readonly written?: readonly BodyMember[] | undefined;
  /** True if a second delivery would only cost work; false if the replica keeps a result (stored responses). */
  readonly isRepeatable: boolean;
  /** True if even a good answer holds nothing: an empty list of prompts, or no choices, are asked for; false by default. */
  readonly asksForNothing?: boolean;
  /** True if it continues what one replica has stored, so that others may say 404; false by default. */
  readonly isFollowUp?: boolean;
  /** What it names that one replica keeps, so that no other can serve it; absent: nothing. */
  readonly names?: KeptObject | undefined;
  /** A second object of another kind that it names; absent: none. */
  readonly alsoNames?: KeptObject | undefined;
  /** It only asks for what it names: nothing is computed, so it waits for no room, and it has no model. False by default. */
  readonly isLookup?: boolean;
  /** The kind of what the replica may keep of it, under an id that the response says; absent: nothing. */
  readonly makes?: string | undefined;
}

/** How a target is drawn: plain data, which draws of the same rule may share. */
export interface DrawMethod {
  /** share: by the weights, in turn; header: by the value of a header, so that the same value always gets the same target. */
  readonly by: "share" | "header";
  /** The header's name; "" for share. Never its value. */
  readonly header: string;
  /** The targets that took part, with their relative weights. */
  readonly targets: readonly { readonly name: string; readonly weight: number; readonly pool?: string }[];
}

/** never: only replicas that list it; configured: the config names it as a target; asked: a client named it, and the config allows that. */
export type OnDemand = "never" | "configured" | "asked";

/**
 * One inference request as filters, scorers and pickers see it.
 *
 * @example
 * const uncached = request.promptTokens - request.prefix.matchedTokens(endpoint.slot);
 */
export interface InferenceRequest extends ParsedBody {
  /** Estimated prompt length in tokens: text corrected by what replicas report, and the parts' tokens. */
  readonly promptTokens: number;
  readonly promptParts: readonly CountedPart[];
  readonly isFollowUp: boolean;
  readonly id: string;
  /** Type of the parser that read it: "completions", "messages" … */
  readonly api: string;
  readonly path: string;
  readonly dialect: Dialect;
  readonly headers: HeaderView;
  /** The whole body as the client sent it; empty once the request has ended. */
  readonly body: Uint8Array;
  /** The model name that is sent to the replica; drawn once, before filters run. */
  readonly target: string;
  /** Name of the rewrite rule that drew the target; "" if no rule matched. */
  readonly rule: string;
  /** How the rule drew the target; undefined if no rule did, or it does not say. */
  readonly draw: DrawMethod | undefined;
  /** Whether a replica that does not list the target may get the request, so that it loads it. */
  readonly onDemand: OnDemand;
  /** The parser's estimate of the tokens of the prompt's text, which `promptTokens` corrects by reports from the replicas. */
  readonly parsedTokens: number;
  /** The slot of the endpoint that a feature keeps a place at for it, which is then tried first; -1 or absent: none does. */
  readonly placedAt?: number;
  /** The endpoint that generates the answer, while another one is chosen for the prompt; absent otherwise. */
  readonly peer?: Endpoint;
  /** How much of the prompt each endpoint's cache is believed to hold. */
  readonly prefix: PrefixMatch;
}

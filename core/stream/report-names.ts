import type { Dialect } from "../contract/errors.ts";
import { KeySearch } from "./key-search.ts";
import { NameTree } from "./name-tree.ts";

// What a member of a response says, by its name. The first ones are numbers of its usage.
export const PROMPT = 1;
export const OUTPUT = 2;
export const CACHED = 3;
/** The messages API counts cached tokens apart: its `input_tokens` does not include them. */
export const CACHE_READ = 4;
export const CACHE_CREATED = 5;
/** Summed over all such fields: vLLM has one for each kind of part that is not text. */
export const PARTS = 6;
/** One more than the last number's. */
export const NUMBERS = 7;
export const USAGE = 7;
/** The object that is the response itself, inside of an event. */
export const RESPONSE = 8;
/** Why the generation ended. */
export const REASON = 9;
/** An object that says more exactly why it ended before its end; and the member of it that does. */
export const DETAILS = 10;
export const DETAIL = 11;

const NUMBER_NAMES = {
  prompt_tokens: PROMPT,
  input_tokens: PROMPT,
  completion_tokens: OUTPUT,
  output_tokens: OUTPUT,
  cached_tokens: CACHED,
  cache_read_input_tokens: CACHE_READ,
  cache_creation_input_tokens: CACHE_CREATED,
  image: PARTS,
  audio: PARTS,
  video: PARTS,
};

/** What is read of the responses of one API. */
export interface ReportNames {
  readonly tree: NameTree;
  /** Finds the members from which on a response is followed. */
  readonly starts: KeySearch;
  /** How deep in the response the reason stands at most: 1 is the response's own member. */
  readonly reasonDepth: number;
}

/** Whether a response is followed from such a member on. */
export function isStart(meaning: number): boolean {
  return meaning >= USAGE && meaning !== DETAIL;
}

function namesOf(keys: Readonly<Record<string, number>>, reasonDepth: number): ReportNames {
  const starts = Object.keys(keys).filter((name) => isStart(keys[name]!));
  return { tree: new NameTree({ ...NUMBER_NAMES, ...keys }), starts: new KeySearch(starts), reasonDepth };
}

export const REPORT_NAMES: Readonly<Record<Dialect, ReportNames>> = {
  // In one of the choices, which are a list.
  openai: namesOf({ usage: USAGE, finish_reason: REASON }, 3),
  // In the delta of an event.
  anthropic: namesOf({ usage: USAGE, message: RESPONSE, stop_reason: REASON }, 2),
  responses: namesOf({ usage: USAGE, response: RESPONSE, status: REASON, incomplete_details: DETAILS, reason: DETAIL }, 1),
};

import { type CountedPart, NO_PARTS, type PartKind, type PromptPart } from "../contract/prompt-part.ts";
import { startTokens, unitsOf } from "./part-size.ts";

/** The initial guess weighs as much as this many reported tokens. */
const PRIOR_TOKENS = 2_000;
/** After this many tokens an older report counts half. */
const HALF_LIFE_TOKENS = 200_000;
/** A report counts as at most so many times the initial guess: engines make at most 16,384 tokens of an image. */
const MOST_TIMES = 16;
/** Prompts with more text than this many times their parts at first guess teach nothing: the text's uncertainty hides the parts. */
const MOST_TEXT = 4;
/** Tokens that the parts of one request count together whose data are elsewhere: a few bytes name each, and nobody knows its size. */
const MOST_ELSEWHERE = 262_144;
/**
 * Clients may invent names of targets: the name that taught nothing for the longest time is dropped first, and very long names are not
 * kept.
 */
const MOST_TARGETS = 1_024;
const LONGEST_TARGET = 512;

/** Reported tokens and units of one kind of part, for one target. */
interface Sums {
  tokens: number;
  units: number;
}

type Kinds = { [Kind in PartKind]?: Sums };

/** Tokens of a unit of each kind, by target. */
export type PartTokens = Readonly<Record<string, { readonly [Kind in PartKind]?: number }>>;

/** Tokens of images, audio, videos and files for each target: models differ by a factor of ten, and only replicas know. */
export class PartScale {
  readonly #targets = new Map<string, Kinds>();

  /** `known`: what another process has learnt. */
  constructor(known: PartTokens = {}) {
    for (const [target, tokens] of Object.entries(known)) this.#targets.set(target, sumsOf(tokens));
  }

  /** The parts with their tokens; the same empty list for none. */
  counted(target: string, parts: readonly PromptPart[]): readonly CountedPart[] {
    if (parts.length === 0) return NO_PARTS;
    const kinds = this.#targets.get(target);
    let left = MOST_ELSEWHERE;
    return parts.map((part) => {
      const tokens = Math.round(unitsOf(part) * perUnit(part.kind, kinds));
      if (part.isInline) return { ...part, tokens };
      const counted = Math.min(tokens, left);
      left -= counted;
      return { ...part, tokens: counted };
    });
  }

  /**
   * Learns from a prompt whose replica reports text and parts together: `textTokens` is the estimate of its text, after
   * correction. Ignores a prompt that is mostly text.
   */
  learnBeside(target: string, parts: readonly PromptPart[], textTokens: number, reportedTokens: number): void {
    const guess = parts.reduce((sum, part) => sum + unitsOf(part) * startTokens(part.kind), 0);
    if (textTokens <= MOST_TEXT * guess) this.learn(target, parts, reportedTokens - textTokens);
  }

  /**
   * Learns from one prompt; `tokens` may be below 0, where the text was thought too long: cut off there, noise would make parts
   * longer. Ignores a prompt with parts of several kinds, or with data elsewhere, whose size nobody knows.
   */
  learn(target: string, parts: readonly PromptPart[], tokens: number): void {
    const [first] = parts;
    if (first === undefined || Number.isNaN(tokens)) return;
    const { kind } = first;
    if (parts.some((part) => part.kind !== kind || (kind !== "image" && !part.isInline))) return;
    const units = parts.reduce((sum, part) => sum + unitsOf(part), 0);
    const guess = units * startTokens(kind);
    this.#add(target, kind, units, Math.min(MOST_TIMES * guess, Math.max(-guess, tokens)));
  }

  /** Tokens of a unit of each kind that was learnt, by target. */
  perUnit(): PartTokens {
    return Object.fromEntries(Array.from(this.#targets, ([target, kinds]) => [target, ratios(kinds)]));
  }

  #add(target: string, kind: PartKind, units: number, tokens: number): void {
    if (target.length > LONGEST_TARGET) return;
    const kinds = this.#targets.get(target) ?? {};
    // Put at the end, so that the first is the one that taught nothing for longest.
    this.#targets.delete(target);
    if (this.#targets.size >= MOST_TARGETS) this.#targets.delete(this.#targets.keys().next().value!);
    this.#targets.set(target, kinds);
    const start = startTokens(kind);
    const sums = kinds[kind] ?? { tokens: PRIOR_TOKENS, units: PRIOR_TOKENS / start };
    const keep = 0.5 ** (Math.max(tokens, units * start) / HALF_LIFE_TOKENS);
    kinds[kind] = { tokens: sums.tokens * keep + tokens, units: sums.units * keep + units };
  }
}

export function tokensOf(parts: readonly CountedPart[]): number {
  let tokens = 0;
  for (const part of parts) tokens += part.tokens;
  return tokens;
}

function perUnit(kind: PartKind, kinds: Kinds | undefined): number {
  const sums = kinds?.[kind];
  return sums === undefined ? startTokens(kind) : Math.max(0, sums.tokens / sums.units);
}

function ratios(kinds: Kinds): PartTokens[string] {
  return Object.fromEntries((Object.keys(kinds) as PartKind[]).map((kind) => [kind, perUnit(kind, kinds)]));
}

function sumsOf(tokens: PartTokens[string]): Kinds {
  return Object.fromEntries(Object.entries(tokens).map(([kind, each]) => [kind, { tokens: each, units: 1 }]));
}

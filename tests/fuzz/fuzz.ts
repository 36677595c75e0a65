import { type Dice, diceFrom } from "./dice.ts";
import { mutate } from "./mutate.ts";

/** Code under fuzz, and what must hold for every input. */
export interface Target {
  readonly name: string;
  /** Inputs to begin with. */
  readonly seeds: readonly Buffer[];
  /** What such inputs are made of, as latin1. */
  readonly words: readonly string[];
  /** Throws where something does not hold; returns what kind of input it was, so that rare kinds are mutated further. */
  readonly check: (input: Buffer, dice: Dice) => string | Promise<string>;
}

interface Finding {
  /** The smallest input found that still fails. */
  readonly input: Buffer;
  readonly message: string;
  /** How many inputs came before it. */
  readonly after: number;
}

export interface Outcome {
  readonly inputs: number;
  readonly kinds: number;
  readonly finding: Finding | undefined;
}

export interface FuzzOptions {
  /** The same seed gives the same inputs, as far as the time goes. */
  readonly seed: number;
  /** Asked between inputs. */
  readonly isOver: (inputs: number) => boolean;
}

/** Inputs kept because they were the first of their kind. */
const MOST_KEPT = 2000;
const MOST_SHRINKING_TRIES = 3000;

/** Checks a target on inputs without end, until one fails or it is over. */
export async function fuzz(target: Target, { seed, isOver }: FuzzOptions): Promise<Outcome> {
  const corpus = [...target.seeds];
  const kinds = new Set<string>();
  let inputs = 0;
  for (; !isOver(inputs); inputs++) {
    const dice = diceFrom(seed + inputs);
    const input =
      inputs < target.seeds.length ? target.seeds[inputs]! : mutate(dice.pick(corpus), dice.pick(corpus), target.words, dice);
    const verdict = await tried(target, input, seed + inputs);
    if (verdict.fault !== undefined) {
      const finding = { input: await shrunk(target, input, seed + inputs, verdict.fault), message: verdict.fault, after: inputs };
      return { inputs: inputs + 1, kinds: kinds.size, finding };
    }
    if (kinds.has(verdict.kind)) continue;
    kinds.add(verdict.kind);
    if (corpus.length < MOST_KEPT) corpus.push(input);
  }
  return { inputs, kinds: kinds.size, finding: undefined };
}

async function tried(target: Target, input: Buffer, seed: number): Promise<{ kind: string; fault?: string }> {
  try {
    return { kind: await target.check(input, diceFrom(~seed)) };
  } catch (thrown) {
    return { kind: "", fault: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) };
  }
}

/** Takes parts away, ever smaller ones, as long as what is left fails in the same way. */
async function shrunk(target: Target, failing: Buffer, seed: number, fault: string): Promise<Buffer> {
  let input = failing;
  let tries = 0;
  for (let size = input.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < input.length && tries < MOST_SHRINKING_TRIES; tries++) {
      const smaller = Buffer.concat([input.subarray(0, at), input.subarray(at + size)]);
      const verdict = await tried(target, smaller, seed);
      if (verdict.fault !== undefined && wayOf(verdict.fault) === wayOf(fault)) input = smaller;
      else at += size;
    }
  }
  return input;
}

/** A fault without what is different from input to input. */
function wayOf(fault: string): string {
  return fault.split("\n", 1)[0]!.replace(/\d+/g, "0").slice(0, 60);
}

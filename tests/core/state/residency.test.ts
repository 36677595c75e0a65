import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Admission, type Chain, Residency } from "../../../core/state/residency.ts";

// A simple model of the same rules: for each slot a map of held blocks and when each was last used.

interface Block {
  readonly depth: number;
  readonly tokens: number;
  usedAt: number;
}

interface ModelAdmission {
  readonly slot: number;
  readonly from: number;
  readonly at: number;
}

const SLOTS = 5;
const STEPS = 120;
/** Room for 267 entries. */
const SMALLEST_BYTES = 34_816;
const TOKENS = [1, 3, 2, 5];

class Model {
  readonly slots = Array.from({ length: SLOTS }, () => new Map<string, Block>());
  readonly capacity: number[];
  readonly maxEntries: number;
  now = 0;

  constructor(maxEntries: number, capacity: number) {
    this.maxEntries = maxEntries;
    this.capacity = new Array(SLOTS).fill(capacity);
  }

  depth(path: string, slot: number): number {
    let depth = 0;
    while (depth < path.length && this.slots[slot]!.has(path.slice(0, depth + 1))) depth++;
    return depth;
  }

  admit(path: string, slot: number): ModelAdmission {
    const from = this.depth(path, slot);
    const at = ++this.now;
    for (let depth = 1; depth <= from; depth++) this.slots[slot]!.get(path.slice(0, depth))!.usedAt = at;
    let room = 0;
    for (let block = from; block < path.length; block++) room += tokensIn(block);
    while (this.tokens(slot) + room > this.capacity[slot]! && this.evict([slot], at)) {}
    for (let block = from; block < path.length; block++) {
      if (this.entries() === this.maxEntries && !this.evict(this.slots.keys(), at)) break;
      this.slots[slot]!.set(path.slice(0, block + 1), { depth: block, tokens: tokensIn(block), usedAt: at });
    }
    this.trim(slot);
    return { slot, from, at };
  }

  withdraw(path: string, admission: ModelAdmission): void {
    const held = this.slots[admission.slot]!;
    for (let depth = this.depth(path, admission.slot); depth > admission.from; depth--) {
      const key = path.slice(0, depth);
      const isNeeded = [...held.keys()].some((other) => other.length === depth + 1 && other.startsWith(key));
      if (isNeeded || held.get(key)!.usedAt !== admission.at) return;
      held.delete(key);
    }
  }

  trim(slot: number): void {
    while (this.tokens(slot) > this.capacity[slot]! && this.evict([slot], Number.POSITIVE_INFINITY)) {}
  }

  /** Removes the block that was used least recently before that moment, the deepest of its path. */
  evict(slots: Iterable<number>, before: number): boolean {
    let victim: { slot: number; key: string; block: Block } | undefined;
    for (const slot of slots) {
      for (const [key, block] of this.slots[slot]!) {
        if (block.usedAt >= before) continue;
        const isOlder = victim === undefined || block.usedAt < victim.block.usedAt;
        if (isOlder || (block.usedAt === victim!.block.usedAt && block.depth > victim!.block.depth))
          victim = { slot, key, block };
      }
    }
    if (victim !== undefined) this.slots[victim.slot]!.delete(victim.key);
    return victim !== undefined;
  }

  tokens(slot: number): number {
    let tokens = 0;
    for (const block of this.slots[slot]!.values()) tokens += block.tokens;
    return tokens;
  }

  entries(): number {
    return this.slots.reduce((sum, held) => sum + held.size, 0);
  }
}

const tokensIn = (block: number) => TOKENS[block % TOKENS.length]!;

/** A prompt is a word; each of its prefixes has its own hash. */
function makeChain(path: string): Chain {
  const hashes = new Int32Array(2 * path.length);
  let low = 1;
  let high = 2;
  for (let block = 0; block < path.length; block++) {
    low = Math.imul(low ^ path.charCodeAt(block), 0x9e3779b1) ^ (low >>> 15);
    high = (Math.imul(high + path.charCodeAt(block), 0x85ebca6b) + low) | 0;
    hashes[2 * block] = low;
    hashes[2 * block + 1] = high;
  }
  return { blocks: path.length, hashes, tokensIn };
}

type Step =
  | { readonly kind: "admit"; readonly path: string; readonly slot: number; readonly guess: number }
  | { readonly kind: "withdraw"; readonly back: number }
  | { readonly kind: "forget"; readonly slot: number }
  | { readonly kind: "capacity"; readonly slot: number; readonly tokens: number };

const slots = fc.nat({ max: SLOTS - 1 });
/** Prompts with long common beginnings and short ends, like conversations. */
const paths = (tail: number) =>
  fc
    .tuple(
      fc.constantFrom("", "aaaaaaaa", "aaaabbbb", "cc"),
      fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: tail, size: "max" }),
    )
    .map(([head, rest]) => head + rest);

function steps(tail: number, capacity: number): fc.Arbitrary<Step[]> {
  const admit = fc.record({ kind: fc.constant("admit" as const), path: paths(tail), slot: slots, guess: fc.nat({ max: 20 }) });
  const withdraw = fc.record({ kind: fc.constant("withdraw" as const), back: fc.nat({ max: 4 }) });
  const forget = fc.record({ kind: fc.constant("forget" as const), slot: slots });
  const resize = fc.record({ kind: fc.constant("capacity" as const), slot: slots, tokens: fc.nat({ max: capacity }) });
  return fc.array(fc.oneof({ weight: 12, arbitrary: admit }, { weight: 3, arbitrary: withdraw }, forget, resize), {
    maxLength: STEPS,
    size: "max",
  });
}

/** Runs the steps on both and compares everything visible after each. */
function compare(all: readonly Step[], capacity: number): void {
  const residency = new Residency(SMALLEST_BYTES, capacity);
  const model = new Model(residency.table.maxEntries, capacity);
  const admitted: { path: string; ours: Admission; theirs: ModelAdmission }[] = [];
  const seen = new Set<string>();
  for (const step of all) {
    if (step.kind === "admit") {
      seen.add(step.path);
      const guess = Math.min(step.guess, step.path.length);
      const ours = residency.admit(makeChain(step.path), step.slot, guess);
      const theirs = model.admit(step.path, step.slot);
      assert.equal(ours.from, theirs.from);
      admitted.push({ path: step.path, ours, theirs });
    } else if (step.kind === "withdraw") {
      const [claim] = admitted.splice(Math.max(0, admitted.length - 1 - step.back), 1);
      if (claim === undefined) continue;
      residency.withdraw(makeChain(claim.path), claim.ours);
      model.withdraw(claim.path, claim.theirs);
    } else if (step.kind === "forget") {
      residency.forget(step.slot);
      model.slots[step.slot]!.clear();
    } else {
      residency.setCapacity(step.slot, step.tokens);
      model.capacity[step.slot] = step.tokens;
      model.trim(step.slot);
    }
    assertSame(residency, model);
  }
  for (const path of seen) assertHeldPrefix(residency, model, path);
}

function assertSame(residency: Residency, model: Model): void {
  assert.equal(residency.table.count, model.entries());
  const sizes = model.slots.map((held, slot) => ({ slot, entries: held.size, tokens: model.tokens(slot) }));
  const ours = residency.slots().map(({ slot, entries, tokens }) => ({ slot, entries, tokens }));
  assert.deepEqual(
    ours,
    sizes.filter(({ entries }) => entries > 0),
  );
}

/** The depth is the same from every guess and block by block: the held blocks have no gap. */
function assertHeldPrefix(residency: Residency, model: Model, path: string): void {
  const chain = makeChain(path);
  for (let slot = 0; slot < SLOTS; slot++) {
    const depth = model.depth(path, slot);
    for (let guess = 0; guess <= path.length; guess++) assert.equal(residency.depth(chain, slot, guess), depth);
    for (let block = 0; block < path.length; block++) {
      const isHeld = residency.table.find(chain.hashes[2 * block]!, chain.hashes[2 * block + 1]!, slot) !== 0;
      assert.equal(isHeld, block < depth);
    }
  }
}

test("equals the simple model while slots are trimmed to their capacity", () => {
  fc.assert(
    fc.property(steps(6, 60), (all) => compare(all, 40)),
    { numRuns: 150, interruptAfterTimeLimit: 20_000 },
  );
});

test("equals the simple model when memory runs out before capacity", () => {
  fc.assert(
    fc.property(steps(40, 100_000), (all) => compare(all, 1_000_000)),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  );
});

test("equals the simple model when one prompt is larger than memory", () => {
  const { maxEntries } = new Residency(SMALLEST_BYTES, 1).table;
  const long = "d".repeat(maxEntries + 50);
  const all = ["ab", long, "ab", `${long}e`, "c"].map((path, slot): Step => ({ kind: "admit", path, slot, guess: 0 }));
  compare(all, 1_000_000);
});

test("generated text takes room until it is the oldest, then is evicted before its prompt", () => {
  const residency = new Residency(SMALLEST_BYTES, 20);
  residency.admit(makeChain("ab"), 0, 0);
  residency.extend(makeChain("ab"), 0, 8);
  assert.deepEqual(residency.slots(), [{ slot: 0, entries: 3, tokens: tokensIn(0) + tokensIn(1) + 8, capacityTokens: 20 }]);
  residency.setCapacity(0, 11);
  assert.equal(residency.depth(makeChain("ab"), 0, 0), 2);
  assert.equal(residency.slots()[0]?.tokens, tokensIn(0) + tokensIn(1));
  residency.extend(makeChain("ab"), 0, 100);
  assert.ok((residency.slots()[0]?.tokens ?? 0) <= 11);
  residency.forget(0);
  assert.equal(residency.table.count, 0);
});

test("a longer prompt contains the generated text, so it is not counted twice", () => {
  const residency = new Residency(SMALLEST_BYTES, 1000);
  const tokens = () => residency.slots()[0]?.tokens;
  residency.admit(makeChain("ab"), 0, 0);
  residency.extend(makeChain("ab"), 0, 50);
  residency.extend(makeChain("ab"), 0, 30);
  assert.equal(tokens(), tokensIn(0) + tokensIn(1) + 30);
  residency.admit(makeChain("ab"), 0, 2);
  assert.equal(tokens(), tokensIn(0) + tokensIn(1) + 30);
  residency.admit(makeChain("abc"), 0, 2);
  assert.equal(tokens(), tokensIn(0) + tokensIn(1) + tokensIn(2));
});

test("text generated after a prompt that is not held any more takes no room", () => {
  const residency = new Residency(SMALLEST_BYTES, 1000);
  residency.admit(makeChain("ab"), 0, 0);
  residency.forget(0);
  residency.extend(makeChain("ab"), 0, 50);
  residency.extend(makeChain(""), 0, 50);
  assert.equal(residency.table.count, 0);
});

test("with generated text in any order of calls, all room is free again at the end", () => {
  const paths = ["a", "ab", "abc", "ad", "b", "bc"];
  const action = fc.tuple(
    fc.constantFrom("admit", "extend", "withdraw", "capacity"),
    fc.constantFrom(...paths),
    fc.nat({ max: 60 }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const residency = new Residency(SMALLEST_BYTES, 30);
      const admissions = new Map<string, Admission>();
      for (const [kind, path, amount] of actions) {
        const chain = makeChain(path);
        if (kind === "admit") admissions.set(path, residency.admit(chain, 0, 0));
        else if (kind === "extend") residency.extend(chain, 0, amount + 1);
        else if (kind === "capacity") residency.setCapacity(0, amount);
        else if (admissions.has(path)) residency.withdraw(chain, admissions.get(path)!);
        const [slot] = residency.slots();
        assert.ok(
          slot === undefined || (slot.tokens > 0 && slot.tokens <= Math.max(slot.capacityTokens, 0)),
          JSON.stringify(slot),
        );
        assert.equal(slot?.entries ?? 0, residency.table.count);
        const depth = residency.depth(chain, 0, 0);
        for (let block = 0; block < path.length; block++) {
          assert.equal(residency.table.find(chain.hashes[2 * block]!, chain.hashes[2 * block + 1]!, 0) !== 0, block < depth);
        }
      }
      residency.forget(0);
      assert.equal(residency.table.count, 0);
    }),
    { numRuns: 300 },
  );
});

test("room costs less than a token while there is some; then what would be evicted, times the chance that it is asked for again", () => {
  // Blocks of 1 and 3 tokens.
  const residency = new Residency(SMALLEST_BYTES, 10);
  residency.admit(makeChain("ab"), 0, 0);
  residency.admit(makeChain("cd"), 0, 0);
  assert.equal(residency.displaced(0, 1), 0.9, "they fit");
  assert.equal(residency.displaced(0, 100), 1 + 1 / 2, "nothing was ever used again");
  // Used again after one other admission, so the usual age is 2; "cd" is the oldest now, at the age of 1.
  residency.admit(makeChain("ab"), 0, 2);
  assert.equal(residency.displaced(0, 1), 0.9);
  assert.equal(residency.displaced(0, 6), 1 + 1 / 2 + 4 * (2 / 4));
  // 12 tokens evict more than the cache holds: no more than they take themselves.
  residency.setCapacity(0, 0);
  const age = residency.table.age(0);
  assert.equal(residency.displaced(0, 12), 1 + 1 / (1 + age) + 12 * (2 / (2 + age + 1)));
  assert.ok(Number.isFinite(residency.displaced(0, 0)), "a cache of no size");
  assert.equal(residency.displaced(1, 6), 0.6, "an empty cache");
});

test("ties go to the cache with more room, then to the one whose oldest prompt is older, before any prompt was used again", () => {
  const residency = new Residency(SMALLEST_BYTES, 10);
  residency.admit(makeChain("ab"), 0, 0);
  assert.ok(residency.displaced(1, 4) < residency.displaced(0, 4), "room");
  residency.setCapacity(0, 4);
  residency.setCapacity(1, 4);
  residency.admit(makeChain("cd"), 1, 0);
  assert.ok(residency.displaced(0, 4) < residency.displaced(1, 4), "age");
  assert.ok(residency.displaced(2, 4) < residency.displaced(0, 4), "an empty one of the size before a full one");
});

test("of two full caches, the one with the younger prompts costs more room", () => {
  const residency = new Residency(SMALLEST_BYTES, 4);
  residency.admit(makeChain("ab"), 0, 0);
  for (let turn = 0; turn < 5; turn++) residency.admit(makeChain("cd"), 1, 2);
  residency.admit(makeChain("ab"), 0, 2);
  const [younger, older] = [residency.displaced(0, 4), residency.displaced(1, 4)];
  assert.ok(younger > older && older > 0, `${younger} and ${older}`);
});

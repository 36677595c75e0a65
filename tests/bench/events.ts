/**
 * What it costs to hear the events of replicas' caches: microseconds for an event that stores so many blocks, and for the one that removes
 * them; the share of a core that 5,000 of the first kind take in a second; and how often all of its bytes could be added up meanwhile, a
 * ratio that says the same on a faster machine.
 */
import { performance } from "node:perf_hooks";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { EngineBlocks } from "../../plugins/features/kv-events/cache/engine-blocks.ts";
import { batch, removedMap, storedMap, take } from "../support/event-batches.ts";

const BLOCK_TOKENS = 16;
/** Token ids of a usual vocabulary. */
const VOCABULARY = 128_000;
const BATCHES = 400;
const ROUNDS = 60;
const EVENTS_PER_S = 5_000;
const SPREAD = 0x9e3779b97f4a7c15n;
const random = seededRandom(1);

for (const blocks of [64, 8, 1]) {
  const stored: Buffer[] = [];
  const removed: Buffer[] = [];
  for (let at = 0; at < BATCHES; at++) {
    const hashes = Array.from({ length: blocks }, (_, block) => BigInt.asUintN(64, BigInt(1 + at * blocks + block) * SPREAD));
    const tokens = Array.from({ length: blocks * BLOCK_TOKENS }, () => Math.floor(random() * VOCABULARY));
    stored.push(batch([storedMap({ hashes, tokens })]));
    removed.push(batch([removedMap(hashes)]));
  }
  const engine = new EngineBlocks({ left: 1_000_000 });
  const bytes = Buffer.concat(stored);
  const best = { stored: Number.POSITIVE_INFINITY, removed: Number.POSITIVE_INFINITY, added: Number.POSITIVE_INFINITY };
  let sum = 0;
  for (let round = 0; round < ROUNDS; round++) {
    best.stored = Math.min(
      best.stored,
      microseconds(stored, (each) => take(engine, each)),
    );
    best.removed = Math.min(
      best.removed,
      microseconds(removed, (each) => take(engine, each)),
    );
    best.added = Math.min(
      best.added,
      microseconds([bytes], () => {
        for (let at = 0; at < bytes.length; at++) sum = (sum + bytes[at]!) | 0;
      }),
    );
  }
  const share = (best.stored * EVENTS_PER_S) / 10_000;
  const told = `stored in ${best.stored.toFixed(2)} µs, removed in ${best.removed.toFixed(2)} µs`;
  const ratio = best.stored / (best.added / BATCHES);
  console.log(
    `${blocks} blocks: ${told}; ${share.toFixed(1)} % of a core at ${EVENTS_PER_S}/s; ${ratio.toFixed(1)} sums of its bytes`,
  );
}

/** For each of them. */
function microseconds(batches: readonly Buffer[], work: (each: Buffer) => unknown): number {
  const startMs = performance.now();
  for (const each of batches) work(each);
  return ((performance.now() - startMs) * 1_000) / batches.length;
}

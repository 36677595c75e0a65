import { defineScorer, type Endpoint, type InferenceRequest, ringPlace, z } from "signalbox/plugin";

/** Defaults of KubeAI's `prefixHash` (a load factor of 125 percent, and so on). */
const options = z.strictObject({
  /** Limit of an endpoint's requests in flight, as a multiple of the mean. */
  meanLoadFactor: z.number().min(1).max(1_000).default(1.25),
  /** Number of points of each endpoint on the ring. */
  replication: z.int().min(1).max(4_096).default(256),
  /** Prompt bytes that are hashed. */
  prefixBytes: z.int().min(1).max(65_536).default(100),
  /** Bytes before them that are skipped, such as a common beginning of all prompts. */
  skipBytes: z.int().min(0).max(16_777_216).default(0),
});

/**
 * Consistent hashing with bounded loads, like KubeAI's PrefixHash (file internal/loadbalancer/balance_chwbl.go). The adapter and
 * the first characters of the first user message give a place on a ring. From there on, the first endpoint wins for which
 * requests in flight + 1 <= meanLoadFactor x (requests in flight at all endpoints + 1) / endpoints; if there is none, the first.
 *
 * It needs no index and no memory, so several routers choose the same endpoint. The hash is MurmurHash3 instead of xxhash.
 */
export default defineScorer({
  type: "bounded-load-hash",
  summary: "Hashes the prompt's beginning to an endpoint, and takes the next one on the ring while that is too busy.",
  options,
  create({ meanLoadFactor, replication, prefixBytes, skipBytes }) {
    const points = new WeakMap<Endpoint, Uint32Array>();
    const pointsOf = (endpoint: Endpoint) => {
      const known = points.get(endpoint) ?? ringPoints(endpoint.name, replication);
      points.set(endpoint, known);
      return known;
    };
    return {
      score(request, candidates, load) {
        const key = ringPlace(hashedBytes(request, skipBytes, prefixBytes), ringPlace(request.target));
        const total = candidates.reduce((sum, { slot }) => sum + load.inFlight(slot), 0);
        const limit = (meanLoadFactor * (total + 1)) / candidates.length;
        return candidates.map((endpoint) => {
          const nearness = 1 - stepsTo(pointsOf(endpoint), key) / 2 ** 32;
          const hasRoom = total === 0 || load.inFlight(endpoint.slot) + 1 <= limit;
          return hasRoom ? (1 + nearness) / 2 : nearness / 2;
        });
      },
    };
  },
});

/** The bytes to hash: in a chat, from the first user message on; if the prompt is too short for skipBytes, its end. */
function hashedBytes({ body, promptSpans }: InferenceRequest, skipBytes: number, prefixBytes: number): Uint8Array {
  const [start, end] = promptSpans.at(-1) ?? [0, 0];
  const text = Buffer.from(body.buffer, body.byteOffset + start, end - start);
  const user = Math.max(0, text.indexOf('"user"'));
  const from = Math.min(user + skipBytes, Math.max(user, text.length - prefixBytes));
  return text.subarray(from, from + prefixBytes);
}

function ringPoints(name: string, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => ringPlace(`${name}${index}`)).sort();
}

/** Distance along the ring from `place` to the next of the points. */
function stepsTo(points: Uint32Array, place: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (points[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return ((points[low] ?? points[0]!) - place) >>> 0;
}

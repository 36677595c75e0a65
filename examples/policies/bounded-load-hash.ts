import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** Defaults of KubeAI's `prefixHash` (a load factor of 125 percent, and so on). */
const options = z.strictObject({
  /** How many times the mean an endpoint's requests in flight may be. */
  meanLoadFactor: z.number().min(1).max(1_000).default(1.25),
  /** Points that each endpoint has on the ring. */
  replication: z.int().min(1).max(4_096).default(256),
  /** Prompt bytes that are hashed. */
  prefixBytes: z.int().min(1).max(65_536).default(100),
  /** Bytes in front of them that are not, such as what all prompts begin with. */
  skipBytes: z.int().min(0).max(16_777_216).default(0),
});

/**
 * Consistent hashing with bounded loads, as KubeAI's PrefixHash has it (file internal/loadbalancer/balance_chwbl.go): adapter and
 * first characters of the first user message choose a place on a ring, and from there on the first endpoint wins with
 * requests in flight + 1 <= meanLoadFactor x (all + 1) / endpoints; where there is none, the first of all.
 *
 * It needs no index and no memory, so several routers agree without talking. The hash is FNV-1a instead of xxhash.
 */
export default defineScorer({
  type: "bounded-load-hash",
  summary: "Hashes the prompt's beginning to an endpoint, and goes on to the next one while that is too busy.",
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
        const key = hash(request.target, hashedBytes(request, skipBytes, prefixBytes));
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

/** Of a chat, from the first user message on; of a prompt that is too short, its end. */
function hashedBytes({ body, promptSpans }: InferenceRequest, skipBytes: number, prefixBytes: number): Uint8Array {
  const [start, end] = promptSpans.at(-1) ?? [0, 0];
  const text = Buffer.from(body.buffer, body.byteOffset + start, end - start);
  const user = Math.max(0, text.indexOf('"user"'));
  const from = Math.min(user + skipBytes, Math.max(user, text.length - prefixBytes));
  return text.subarray(from, from + prefixBytes);
}

function ringPoints(name: string, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, index) => hash(`${name}${index}`)).sort();
}

/** How far it is along the ring from `place` to the next of these points. */
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

/** FNV-1a, its bits mixed once more, for on a ring the high ones count. */
function hash(text: string, bytes: Uint8Array = new Uint8Array(0)): number {
  let state = 0x811c9dc5;
  const mix = (byte: number) => {
    state = Math.imul(state ^ byte, 0x01000193);
  };
  for (let index = 0; index < text.length; index++) mix(text.charCodeAt(index));
  bytes.forEach(mix);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

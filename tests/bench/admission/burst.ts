import { Prompt, type Trace, type TraceRequest } from "../../../apps/lab/simulate/trace.ts";
import { seededRandom } from "../../support/endpoints.ts";

/** Requests of one tenant. */
export interface Stream {
  readonly tenant: string;
  readonly priority: number;
  /** Requests a second. */
  readonly perS: number;
  readonly fromS: number;
  readonly untilS: number;
  readonly seed: number;
}

const BLOCK_TOKENS = 256;
/** Prompts of a tenant begin with one of so many texts of so many blocks; their own part is about as long. */
const TEXTS = 24;
const TEXT_BLOCKS = 6;
const OWN_BLOCKS = 4;
const OUTPUT_TOKENS = 200;

/** Arrivals at random times (Poisson), with prompts that share beginnings inside a tenant. */
export function trafficOf(streams: readonly Stream[]): Trace {
  let blocks = 1;
  const fresh = () => {
    blocks += 1;
    return blocks;
  };
  const all = streams.flatMap((stream) => {
    const random = seededRandom(stream.seed);
    const headers = { "x-tenant": stream.tenant, "x-priority": String(stream.priority) };
    const texts = Array.from({ length: TEXTS }, () => Array.from({ length: TEXT_BLOCKS }, fresh));
    const requests: TraceRequest[] = [];
    let atMs = stream.fromS * 1000;
    for (;;) {
      atMs += (-Math.log(1 - random()) * 1000) / stream.perS;
      if (atMs >= stream.untilS * 1000) return requests;
      const own = 1 + Math.floor(random() * 2 * OWN_BLOCKS);
      const ids = [...texts[Math.floor(random() * TEXTS)]!, ...Array.from({ length: own }, fresh)];
      const prompt = new Prompt(ids.length * BLOCK_TOKENS, Int32Array.from(ids), (block) => block * BLOCK_TOKENS);
      const outputTokens = 1 + Math.floor(random() * 2 * OUTPUT_TOKENS);
      requests.push({ line: 0, atMs, prompt, outputTokens, model: "m", headers });
    }
  });
  const requests = all.sort((one, other) => one.atMs - other.atMs).map((request, index) => ({ ...request, line: index + 1 }));
  return { name: "burst", requests, hasPrefixes: true, skippedLines: 0 };
}

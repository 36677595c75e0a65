import { seededRandom } from "../../../core/contract/test-kit.ts";
import type { EngineWire } from "../../../core/pool/engine-wire.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import { type CacheEventSettings, CacheEvents } from "./cache-events.ts";
import type { EventQueue } from "./events.ts";
import { promptOf } from "./prompt-bytes.ts";
import { replicaName } from "./router-side.ts";

/** Which events get lost is drawn apart from everything else that is random. */
const SEED = 0xe7e47;
/** What a question takes beside the tokenizer's work. */
const QUESTION_MS = 5;
/** How many tokens of text a tokenizer makes in a millisecond. */
const TOKENS_PER_MS = 1_000;

/** What each of the replicas publishes of its cache, by their names. */
export function publishers(
  { replicas, model, seed }: { readonly replicas: number; readonly model: EngineTimes; readonly seed: number },
  settings: CacheEventSettings,
  queue: EventQueue,
): ReadonlyMap<string, CacheEvents> {
  const random = seededRandom(seed ^ SEED);
  const made = () => new CacheEvents(settings, model.blockTokens, queue, random);
  return new Map(Array.from({ length: replicas }, (_, at) => [replicaName(at), made()]));
}

/** What modelled engines publish, and how they render prompts: each word of a simulated prompt is one token. */
export function modelledEngines(byHost: ReadonlyMap<string, CacheEvents>, queue: EventQueue): EngineWire {
  return {
    subscribe: (host, owner) => byHost.get(host)!.subscribe(owner),
    replay: (host, from, owner) => byHost.get(host)!.replay(from, owner),
    post(_endpoint, _path, body, { maxBytes, timeoutMs }, done) {
      const { prompt } = JSON.parse(body) as { readonly prompt: string };
      const tokens = promptOf(prompt);
      const answer = JSON.stringify({ token_ids: tokens });
      const tookMs = QUESTION_MS + tokens.length / TOKENS_PER_MS;
      const isAnswered = answer.length <= maxBytes && tookMs <= timeoutMs;
      queue.after(Math.min(tookMs, timeoutMs), () => done(isAnswered ? { status: 200, body: answer } : undefined));
    },
  };
}

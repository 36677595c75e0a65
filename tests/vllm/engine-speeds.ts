/** How fast servers compute, as the engine model says it. */
export interface Speeds {
  readonly prefillTokensPerS: number;
  readonly decodeStepMs: number;
  readonly decodePerRequestMs: number;
}

/** What servers say that they have done so far, all together. */
export interface Work {
  readonly requests: number;
  readonly uncachedTokens: number;
  /** From a request's first step to its first token. */
  readonly prefillS: number;
  /** From one token of a request to the next. */
  readonly tokenGaps: number;
  readonly tokenGapS: number;
  /** From a request's arrival in the engine to its end. */
  readonly insideS: number;
}

/** A prompt's computation takes at least this share of the time to its first token; the rest is the step of others' tokens. */
const LEAST_PREFILL_SHARE = 0.1;

export async function workOf(urls: readonly string[]): Promise<Work> {
  const pages = await Promise.all(urls.map(pageOf));
  const sum = (name: string) => pages.reduce((total, page) => total + valueIn(page, name), 0);
  return {
    requests: sum("request_prefill_time_seconds_count"),
    uncachedTokens: sum("prefix_cache_queries_total") - sum("prefix_cache_hits_total"),
    prefillS: sum("request_prefill_time_seconds_sum"),
    tokenGaps: sum("inter_token_latency_seconds_count"),
    tokenGapS: sum("inter_token_latency_seconds_sum"),
    insideS: sum("request_queue_time_seconds_sum") + sum("request_inference_time_seconds_sum"),
  };
}

export function workBetween(before: Work, after: Work): Work {
  const keys = Object.keys(before) as readonly (keyof Work)[];
  return Object.fromEntries(keys.map((key) => [key, after[key] - before[key]])) as unknown as Work;
}

/** As they were under this load, with all that the machine did beside it. A prompt's step also computes the tokens of others. */
export function speedsOf({ requests, uncachedTokens, prefillS, tokenGaps, tokenGapS }: Work): Speeds {
  const stepS = tokenGapS / tokenGaps;
  const promptsS = Math.max(prefillS - requests * stepS, LEAST_PREFILL_SHARE * prefillS);
  return { prefillTokensPerS: uncachedTokens / promptsS, decodeStepMs: 1000 * stepS, decodePerRequestMs: 0 };
}

/** What the server's cache can hold: all blocks but one, which stands for no data. */
export async function cacheTokens(url: string, blockTokens: number): Promise<number> {
  const blocks = Number(/^vllm:cache_config_info\{[^}]*num_gpu_blocks="(\d+)"/m.exec(await pageOf(url))?.[1]);
  if (blocks > 1) return (blocks - 1) * blockTokens;
  throw new Error("The server does not report the size of its cache");
}

async function pageOf(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { Connection: "close" } })).text();
}

function valueIn(page: string, name: string): number {
  const value = new RegExp(`^vllm:${name}\\{[^}]*\\} (\\S+)`, "m").exec(page)?.[1];
  if (value === undefined) throw new Error(`The server has no metric vllm:${name}`);
  return Number(value);
}

import type { Clock } from "../../../core/contract/clock.ts";
import type { Router } from "../../../core/router.ts";

const PROMPTS = ["Tell me about soup.", "Tell me about bread.", "Tell me about soup. And then?", "What is a signal box?"];
/** How often it looks whether something else runs: whoever has saved a plugin wants to see what it does. */
const LOOK_MS = 20;

/** Sends a chat request in each period, and one as soon as another config runs, so that there is something to see. Returns what ends that. */
export function sendRequests(router: Router, url: string, periodMs: number, clock: Clock): () => void {
  const ending = new AbortController();
  let sent = 0;
  let config = router.config;
  let nextMs = clock.now() + periodMs;
  const send = async () => {
    const models = modelsOf(router);
    const model = models[sent % models.length];
    if (model === undefined) return;
    const messages = [{ role: "user", content: PROMPTS[sent++ % PROMPTS.length] }];
    const body = JSON.stringify({ model, messages, max_tokens: 8 });
    const headers = { "content-type": "application/json" };
    const { signal } = ending;
    await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body, signal })).text();
  };
  const stop = clock.every(Math.min(LOOK_MS, periodMs), () => {
    const nowMs = clock.now();
    if (router.config === config && nowMs < nextMs) return;
    config = router.config;
    nextMs = Math.max(nextMs + periodMs, nowMs);
    // What fails shows in the router's own lines.
    void send().catch(() => {});
  });
  return () => {
    stop();
    ending.abort();
  };
}

/** What clients may ask for. The router's list of models would be one more request to show. */
function modelsOf({ pool, config }: Router): readonly string[] {
  return [...new Set([...pool.facts.served, ...config.rewriters.flatMap(({ plugin }) => plugin.clientModels)])];
}

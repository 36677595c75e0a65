import type { Clock } from "../../../core/contract/clock.ts";
import type { Router } from "../../../core/router.ts";
import { onConfigChange } from "./config-changes.ts";

const PROMPTS = ["Tell me about soup.", "Tell me about bread.", "Tell me about soup. And then?", "What is a signal box?"];

/** Sends a chat request in each period, and one as soon as another config runs, so that there is something to see. Returns what ends that. */
export function sendRequests(router: Router, url: string, periodMs: number, clock: Clock): () => void {
  const ending = new AbortController();
  let sent = 0;
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
  // What fails shows in the router's own lines.
  const sendNow = () => void send().catch(() => {});
  const stops = [clock.every(periodMs, sendNow), onConfigChange(router, clock, sendNow)];
  return () => {
    for (const stop of stops) stop();
    ending.abort();
  };
}

/** What clients may ask for. The router's list of models would be one more request to show. */
function modelsOf({ pool, config }: Router): readonly string[] {
  return [...new Set([...pool.facts.served, ...config.rewriters.flatMap(({ plugin }) => plugin.clientModels)])];
}

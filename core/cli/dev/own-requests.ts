import type { Clock } from "../../contract/clock.ts";

const PROMPTS = ["Tell me about soup.", "Tell me about bread.", "Tell me about soup. And then?", "What is a signal box?"];

/** Sends a chat request in each period, so that there is something to see. Returns what ends that. */
export function sendRequests(url: string, periodMs: number, clock: Pick<Clock, "every">): () => void {
  const ending = new AbortController();
  let sent = 0;
  const send = async () => {
    const { signal } = ending;
    const list = (await (await fetch(`${url}/v1/models`, { signal })).json()) as { data: readonly { id: string }[] };
    const model = list.data[sent % list.data.length]?.id;
    if (model === undefined) return;
    const messages = [{ role: "user", content: PROMPTS[sent++ % PROMPTS.length] }];
    const body = JSON.stringify({ model, messages, max_tokens: 8 });
    const headers = { "content-type": "application/json" };
    await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body, signal })).text();
  };
  // What fails shows in the router's own lines.
  const stop = clock.every(periodMs, () => void send().catch(() => {}));
  return () => {
    stop();
    ending.abort();
  };
}

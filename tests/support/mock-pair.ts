import type { MockOptions } from "../../apps/lab/mock/options.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";

/** Two mock replicas that share requests. */
export interface MockPair {
  readonly prefill: MockReplica;
  readonly decode: MockReplica;
}

/** Starts a pair, uses it and closes it. */
export async function withPair(
  options: { readonly prefill?: Partial<MockOptions>; readonly decode?: Partial<MockOptions> },
  use: (pair: MockPair) => Promise<void>,
): Promise<void> {
  const prefill = await startMockReplica({ model: "m", timeScale: 0, role: "prefill", ...options.prefill });
  const decode = await startMockReplica({ model: "m", timeScale: 0, role: "decode", ...options.decode });
  try {
    await use({ prefill, decode });
  } finally {
    await prefill.close();
    await decode.close();
  }
}

export interface JsonAnswer {
  readonly status: number;
  readonly text: string;
  // Tests look into it as they like.
  readonly body: Record<string, never>;
}

/** Posts JSON. The body is empty where the response is none. */
export async function postJson(url: string, body: object, headers: Record<string, string> = {}): Promise<JsonAnswer> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? (JSON.parse(text) as Record<string, never>) : {} };
}

/** What asks for the prefill leg of a request, as vLLM's connector has it. */
export const PREFILL_LEG = { do_remote_decode: true, do_remote_prefill: false };

/** Has the prefill replica of a pair compute a body. Returns what its response says of the transfer. */
export async function prefilled(pair: MockPair, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const { body: answer } = await postJson(pair.prefill.url + path, { ...body, kv_transfer_params: PREFILL_LEG });
  return answer["kv_transfer_params"] as unknown as Record<string, unknown>;
}

/** One sample of a replica's metrics page. */
export async function metricOf(replica: MockReplica, name: string, label = ""): Promise<number> {
  const page = await (await fetch(`${replica.url}/metrics`)).text();
  const line = page.split("\n").find((each) => each.startsWith(`vllm:${name}{`) && each.includes(label));
  return Number(line?.split(" ").at(-1));
}

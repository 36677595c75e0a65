import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { killAll, signalbox } from "../support/cli.ts";
import { PREFILL_LEG, postJson } from "../support/mock-pair.ts";
import { waitUntil } from "../support/router.ts";

after(killAll);

const PATH = "/v1/chat/completions";
const BODY = { messages: [{ role: "user", content: "word ".repeat(600) }], max_tokens: 4 };

/** `signalbox mock` as a process of its own. */
async function startMock(...argv: string[]) {
  const running = signalbox("mock", "--port", "0", "--time-scale", "0", ...argv);
  const urlIn = () => /at (http:\S+)/.exec(running.output.out)?.[1];
  await waitUntil(() => urlIn() !== undefined, 120_000);
  return { ...running, url: urlIn() ?? "" };
}

async function factsOf(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}/mock/transfers`)).json()) as Record<string, unknown>;
}

describe("a pair of mock processes", () => {
  test("shares requests, and decode notices a prefill process that is killed during a transfer and after it", async () => {
    const [prefill, decode] = await Promise.all([startMock("--role", "prefill"), startMock("--role", "decode")]);
    const prefilled = async () => {
      const { body } = await postJson(prefill.url + PATH, { ...BODY, max_tokens: 1, kv_transfer_params: PREFILL_LEG });
      return body["kv_transfer_params"] as unknown as object;
    };
    const decodeLeg = async (params: object) => postJson(decode.url + PATH, { ...BODY, kv_transfer_params: params });
    assert.equal((await decodeLeg(await prefilled())).status, 200);
    assert.equal((await factsOf(prefill.url))["fetched"], 1);

    const late = await prefilled();
    await postJson(`${decode.url}/mock/faults`, { slowTransferMs: { value: 600_000, times: 1 } });
    const cut = decodeLeg(await prefilled());
    let facts = await factsOf(prefill.url);
    while (facts["reading"] !== 1) facts = await factsOf(prefill.url);
    prefill.child.kill("SIGKILL");
    assert.equal((await cut).status, 500);
    assert.equal((await decodeLeg(late)).status, 500);
    assert.equal((await postJson(decode.url + PATH, BODY)).status, 200);
  });
});

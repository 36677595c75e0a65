import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, afterEach, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { type EnvoyProcess, HAS_ENVOY, startEnvoy } from "../support/envoy.ts";
import { startTestEpp, type TestEpp } from "../support/gateway.ts";
import { outstanding, waitUntil } from "../support/router.ts";

const ADAPTERS = ["food-review-v1", "food-review-v2"];
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: food-review-v1, weight: 90 }, { modelRewrite: food-review-v2, weight: 10 } ]
`;
const MESSAGES = [{ role: "user", content: "Was the soup any good?" }];
const CHAT = { model: "food-review", max_tokens: 4, messages: MESSAGES };

const APIS = [
  ["/v1/completions", { prompt: "Was the soup any good?", max_tokens: 4 }],
  ["/v1/chat/completions", { messages: MESSAGES, max_tokens: 4 }],
  ["/v1/responses", { input: "Was the soup any good?", max_output_tokens: 4 }],
  ["/v1/messages", { messages: MESSAGES, max_tokens: 4 }],
  ["/inference/v1/generate", { token_ids: [1, 2, 3], sampling_params: { max_tokens: 4 } }],
] as const;

function post(envoy: EnvoyProcess, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${envoy.url}${path}`, { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) });
}

describe("a real Envoy with the router as its endpoint picker", { skip: !HAS_ENVOY }, () => {
  let replicas: readonly MockReplica[] = [];
  let epp: TestEpp;
  let envoy: EnvoyProcess;

  before(async () => {
    replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "base", adapters: ADAPTERS, timeScale: 0 })));
    epp = await startTestEpp(
      replicas.map(({ url }) => url),
      { documents: REWRITE },
    );
    envoy = await startEnvoy({ pickerPort: epp.port });
  });
  after(async () => {
    await envoy?.stop();
    await epp?.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const idle = () => waitUntil(() => outstanding(epp.router).inFlight === 0);

  for (const [path, body] of APIS) {
    it(`${path}: the whole response, and the event stream`, async () => {
      const whole = await post(envoy, path, { model: "food-review", ...body });
      assert.equal(whole.status, 200, await whole.clone().text());
      assert.match(whole.headers.get("x-signalbox-model") ?? "", /^food-review-v/);
      assert.equal(typeof (await whole.json()), "object");
      const stream = await post(envoy, path, { model: "food-review", ...body, stream: true });
      const text = await stream.text();
      assert.match(text, /data: /);
      assert.ok(text.endsWith("\n\n"));
      await idle();
      assert.equal(epp.log.at(-1)?.ending, "complete");
    });
  }

  it("/v1/embeddings", async () => {
    const replica = await startMockReplica({ model: "embedder", isEmbedding: true, timeScale: 0 });
    const embedding = await startTestEpp([replica.url]);
    const own = await startEnvoy({ pickerPort: embedding.port });
    const response = await post(own, "/v1/embeddings", { model: "embedder", input: "soup" });
    const text = await response.text();
    await own.stop();
    await embedding.close();
    await replica.close();
    assert.equal(response.status, 200, text);
    assert.match(text, /"embedding":/);
  });

  it("splits 20 requests at 90/10 into 18 and 2", async () => {
    const split = await startTestEpp(
      replicas.map(({ url }) => url),
      { documents: REWRITE },
    );
    const own = await startEnvoy({ pickerPort: split.port });
    const targets: string[] = [];
    for (let i = 0; i < 20; i++) {
      const response = await post(own, "/v1/chat/completions", CHAT);
      targets.push(JSON.parse(await response.text()).model);
    }
    await own.stop();
    await split.close();
    assert.equal(targets.filter((target) => target === "food-review-v1").length, 18);
    assert.equal(targets.filter((target) => target === "food-review-v2").length, 2);
  });

  it("serves the list of models, and errors in the API's shape", async () => {
    const list = await fetch(`${envoy.url}/v1/models`);
    assert.match(await list.text(), /"id":"food-review"/);
    const unknown = await post(envoy, "/v1/messages", { ...CHAT, model: "nope" });
    assert.equal(unknown.status, 404);
    assert.equal(((await unknown.json()) as { type: string }).type, "error");
  });

  it("passes bodies of a megabyte", async () => {
    const content = Array.from({ length: 100 }, (_, index) => String(index).padEnd(10_000, "soup ")).join("");
    const response = await post(envoy, "/v1/chat/completions", { ...CHAT, messages: [{ role: "user", content }] });
    assert.equal(response.status, 200);
    await response.text();
    const before = epp.log.at(-1) as unknown as { requestBytes: number };
    assert.ok(before.requestBytes > 1_000_000);
  });

  it("serves 500 streams at once", async () => {
    const responses = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const response = await post(envoy, "/v1/chat/completions", { ...CHAT, stream: true });
        return { status: response.status, text: await response.text() };
      }),
    );
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
    assert.ok(responses.every(({ text }) => text.endsWith("data: [DONE]\n\n")));
    await idle();
  });

  for (const modes of [
    ["BUFFERED", "STREAMED"],
    ["BUFFERED", "BUFFERED"],
    ["BUFFERED", "NONE"],
  ] as const) {
    it(`serves with request bodies ${modes[0]} and response bodies ${modes[1]}`, async () => {
      const own = await startEnvoy({ pickerPort: epp.port, modes });
      try {
        for (const stream of [false, true]) {
          const response = await post(own, "/v1/chat/completions", { ...CHAT, stream });
          const text = await response.text();
          assert.equal(response.status, 200, text);
          assert.match(text, /food-review-v[12]/);
        }
        assert.equal((await post(own, "/v1/chat/completions", { ...CHAT, model: "nope" })).status, 404);
        await idle();
      } finally {
        await own.stop();
      }
    });
  }
});

describe("a real Envoy, when things fail", { skip: !HAS_ENVOY }, () => {
  let replicas: readonly MockReplica[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  /** Replicas whose streams take minutes. */
  async function start(spec: string, isListed: boolean): Promise<{ epp: TestEpp; envoy: EnvoyProcess }> {
    replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "m", replyTokens: 100_000 })));
    const [first, second] = replicas.map(({ port }) => port);
    const epp = await startTestEpp(
      replicas.map(({ url }) => url),
      { spec },
    );
    const envoy = await startEnvoy({
      pickerPort: epp.port,
      ...(isListed && { cluster: "listed-replicas", listed: [first!, second!] as const }),
    });
    closing.push(
      () => epp.close(),
      () => envoy.stop(),
    );
    return { epp, envoy };
  }
  const STREAM = { model: "m", messages: MESSAGES, stream: true };
  const begun = (envoy: EnvoyProcess) => {
    const controller = new AbortController();
    const response = post(envoy, "/v1/chat/completions", STREAM, controller.signal);
    return { controller, response };
  };

  it("a client that leaves ends its request at the replica, and gives its load back", async () => {
    const { epp, envoy } = await start("", false);
    const { controller, response } = begun(envoy);
    await (await response).body?.getReader().read();
    assert.equal(outstanding(epp.router).inFlight, 1);
    controller.abort();
    await waitUntil(() => outstanding(epp.router).inFlight === 0);
    assert.equal(epp.log.at(-1)?.ending, "client-left");
    await waitUntil(() => replicas.every(({ load }) => load.running === 0));
  });

  it("a client that leaves before it has sent its body gives everything back", async () => {
    const { epp, envoy } = await start("", false);
    const socket = connect({ port: envoy.port, host: "127.0.0.1" });
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model":',
    );
    await waitUntil(() => epp.router.gate.memory.bodyBytes > 0);
    socket.destroy();
    await waitUntil(() => epp.router.gate.memory.bodyBytes === 0);
  });

  it("a replica that says nothing for too long: an error in the API's shape", async () => {
    const { epp, envoy } = await start("  limits: { responseTimeoutMs: 300 }", false);
    for (const replica of replicas) await replica.faults.apply({ hang: true });
    const response = await post(envoy, "/v1/chat/completions", STREAM);
    const text = await response.text();
    assert.equal(response.status, 504, text);
    assert.match(text, /upstream_timeout/);
    assert.equal(outstanding(epp.router).inFlight, 0);
  });

  it("a stream that falls silent ends with an error event, and never looks complete", async () => {
    const { epp, envoy } = await start("  limits: { streamIdleTimeoutMs: 300 }", false);
    for (const replica of replicas) await replica.faults.apply({ silentAfterEvents: 2 });
    const response = await post(envoy, "/v1/chat/completions", STREAM);
    assert.equal(response.status, 200);
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    await assert.rejects(reading);
    assert.match(text, /upstream_timeout/);
    assert.doesNotMatch(text, /\[DONE\]/);
    assert.equal(outstanding(epp.router).inFlight, 0);
    assert.equal(epp.log.at(-1)?.ending, "broken");
  });

  it("an Envoy that is killed gives everything back", async () => {
    const { epp, envoy } = await start("", false);
    const all = Promise.allSettled([1, 2, 3].map(() => begun(envoy).response.then((response) => response.text())));
    await waitUntil(() => outstanding(epp.router).inFlight === 3);
    envoy.kill();
    await waitUntil(() => outstanding(epp.router).inFlight === 0);
    await all;
  });

  it("a replica that is gone: an error in the API's shape where Envoy has one address", async () => {
    const { envoy } = await start("", false);
    for (const replica of replicas) await replica.close();
    const response = await post(envoy, "/v1/chat/completions", STREAM);
    const text = await response.text();
    assert.equal(response.status, 502, text);
    assert.match(text, /upstream_unreachable/);
  });

  it("a replica that is gone: the next one of the list serves, and the booking is there", async () => {
    const { epp, envoy } = await start("  limits: { gatewayFallbacks: 1 }", true);
    await replicas[0]!.close();
    const served: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { controller, response } = begun(envoy);
      const { status, headers } = await response;
      assert.equal(status, 200);
      served.push(headers.get("x-signalbox-endpoint") ?? "");
      controller.abort();
      await waitUntil(() => outstanding(epp.router).inFlight === 0);
    }
    const alive = epp.router.pool.facts.endpoints.find(({ url }) => url.port === replicas[1]!.port)?.name;
    assert.deepEqual([...new Set(served)], [alive]);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  BUFFERED,
  GatewayCall,
  type GatewayRequest,
  headersIn,
  health,
  STREAMED,
  servedMetadata,
  startTestEpp,
  type TestEpp,
} from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = JSON.stringify({ model: "food-review", messages: [{ role: "user", content: "Was the soup any good?" }] });
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: m, weight: 1 } ]
`;
const ANSWER = JSON.stringify({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
});
const JSON_HEADERS = { "content-type": "application/json" };

describe("the endpoint picker's protocol", () => {
  let replicas: readonly ScriptedReplica[] = [];
  let addresses: readonly string[] = [];
  let epp: TestEpp;
  let client: GrpcClient;

  before(async () => {
    replicas = await Promise.all([1, 2, 3].map(() => startScriptedReplica(() => {})));
    addresses = replicas.map(({ port }) => `127.0.0.1:${port}`);
    epp = await startTestEpp(
      replicas.map(({ url }) => url),
      { documents: REWRITE, spec: "  limits: { gatewayFallbacks: 2 }" },
    );
    client = new GrpcClient(epp.port);
  });
  after(async () => {
    client.close();
    await epp.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  const begin = (request: GatewayRequest) => new GatewayCall(client, request);
  const idle = () => waitUntil(() => outstanding(epp.router).inFlight === 0);

  for (const [mode, requestMode] of [
    ["FULL_DUPLEX_STREAMED", undefined],
    ["BUFFERED", BUFFERED],
  ] as const) {
    it(`names endpoints of the pool and the target, with request bodies ${mode}`, async () => {
      const call = begin({ body: CHAT, ...(requestMode && { requestMode }) });
      const asked = await call.ask();
      assert.equal(asked.status, 0);
      assert.deepEqual(asked.destination?.split(",").toSorted(), addresses.toSorted());
      assert.equal(asked.metadata, asked.destination);
      assert.equal(asked.body, CHAT.replace("food-review", "m"));
      assert.equal(asked.headers["content-length"], String(asked.body.length));
      assert.equal(outstanding(epp.router).inFlight, 1);
      call.call.reset();
      await idle();
    });
  }

  it("sends a body on unchanged that names the target already", async () => {
    const body = CHAT.replace("food-review", "m");
    const buffered = begin({ body, requestMode: BUFFERED });
    assert.equal((await buffered.ask()).body, undefined);
    const streamed = begin({ body });
    assert.equal((await streamed.ask()).body, body);
    buffered.call.reset();
    streamed.call.reset();
    await idle();
  });

  it("takes a body in any pieces", async () => {
    const call = begin({ body: CHAT });
    call.head();
    call.body(1);
    assert.notEqual((await call.next()).request_headers, undefined);
    call.call.reset();
    await idle();
  });

  it("keeps to the subset that the gateway names", async () => {
    const call = begin({ body: CHAT, subset: [addresses[1]!, "10.9.9.9:1"] });
    assert.equal((await call.ask()).destination, addresses[1]);
    call.call.reset();
    await idle();
  });

  for (const [name, subset] of [
    ["empty", []],
    ["of other endpoints", ["10.9.9.9:1"]],
  ] as const) {
    it(`answers 503 with Retry-After for a subset that is ${name}`, async () => {
      const asked = await begin({ body: CHAT, subset }).ask();
      assert.equal(asked.status, 503);
      assert.equal(asked.headers["retry-after"], "1");
      assert.match(asked.body ?? "", /no_ready_endpoint/);
    });
  }

  for (const [name, request, status, code] of [
    ["invalid JSON", { body: "{" }, 400, "invalid_json"],
    ["no model", { body: "{}" }, 400, "missing_model"],
    ["an unknown model", { body: CHAT.replace("food-review", "nope") }, 404, "model_not_found"],
    ["an unknown path", { path: "/none", body: "{}" }, 404, "unknown_path"],
    ["a body in another mode", { body: CHAT, requestMode: STREAMED }, 500, "request_body_mode"],
    ["a body that is no JSON", { body: CHAT, headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
  ] as const) {
    it(`answers ${status} for ${name}, in the API's shape and with the request's id`, async () => {
      const call = begin({ ...request, headers: { "x-request-id": "asked-for", ...("headers" in request && request.headers) } });
      const asked = await call.ask();
      assert.equal(asked.status, status);
      assert.equal(asked.headers["x-request-id"], "asked-for");
      assert.equal(asked.headers["content-type"], "application/json");
      assert.match(asked.body ?? "", new RegExp(code));
      await waitUntil(() => call.call.status === 0);
    });
  }

  it("answers in the shape of the Messages API", async () => {
    const asked = await begin({ path: "/v1/messages", body: "{}" }).ask();
    assert.equal(JSON.parse(asked.body ?? "").type, "error");
  });

  it("answers itself where the proxy would: the list of models", async () => {
    const asked = await begin({ path: "/v1/models" }).ask();
    assert.equal(asked.status, 200);
    assert.match(asked.body ?? "", /"id":"food-review"/);
  });

  it("removes headers of clients that steer gateways and engines, and sets its own", async () => {
    const steering = { "x-gateway-destination-endpoint": "10.0.0.1:1", "x-llm-d-slo-ttft-ms": "1", "x-vllm-priority": "9" };
    const kept = { "user-agent": "test", "x-own": "1", "x-forwarded-for": "10.1.1.1", "x-envoy-attempt-count": "1" };
    const call = begin({ body: CHAT, headers: { ...steering, ...kept, "x-request-id": "given" } });
    const asked = await call.ask();
    assert.deepEqual(asked.removed.toSorted(), Object.keys(steering).toSorted());
    assert.equal(asked.headers["accept-encoding"], "identity");
    assert.deepEqual(
      Object.keys(asked.headers).filter((name) => name in kept),
      [],
    );
    assert.doesNotMatch(asked.destination ?? "", /10\.0\.0\.1/);
    call.call.reset();
    await idle();
  });

  it("passes a response on, and learns from it", async () => {
    const call = begin({ body: CHAT });
    await call.ask();
    call.responseHead({ ...JSON_HEADERS, "content-length": String(ANSWER.length) });
    call.responseBody(ANSWER.slice(0, 40), false);
    call.responseBody(ANSWER.slice(40), false);
    call.responseBody("", true);
    const { response_headers } = await call.next();
    const headers = headersIn(response_headers?.response?.header_mutation);
    assert.match(headers["x-request-id"] ?? "", /./);
    assert.equal(headers["x-signalbox-model"], "m");
    assert.equal(await call.passedBody(), ANSWER);
    await waitUntil(() => call.call.status === 0);
    await idle();
    const line = epp.log.at(-1) as unknown as Record<string, unknown>;
    assert.equal(line["status"], 200);
    assert.equal(line["outputTokens"], 2);
    assert.equal(line["ending"], "complete");
    const { pool } = epp.router;
    const served = pool.facts.endpoints.filter((endpoint) => pool.connections.lastByteMs(endpoint) > Number.NEGATIVE_INFINITY);
    assert.ok(served.some(({ name }) => name === line["endpoint"]));
  });

  it("answers 502 for a response that is no valid HTTP", async () => {
    const call = begin({ body: CHAT });
    await call.ask();
    call.responseHead({ ":status": "99" });
    assert.equal((await call.next()).immediate_response?.status?.code, 502);
    await idle();
  });

  it("gives up a request whose replica makes no progress", async () => {
    const call = begin({ body: CHAT });
    const order = (await call.ask()).destination?.split(",") ?? [];
    const { pool } = epp.router;
    const endpoint = pool.facts.endpoints.find(({ url }) => url.href === `http://${order[0]}`)!;
    const [passed] = pool.connections.triesAt(endpoint).filter(({ watchState }) => watchState === "waiting");
    passed!.cut();
    assert.equal((await call.next()).immediate_response?.status?.code, 504);
    await idle();
    assert.equal(epp.log.at(-1)?.attempts[0]?.result, "wedged");
  });

  it("answers each message of a response once where bodies are STREAMED", async () => {
    const call = begin({ body: CHAT, responseMode: STREAMED });
    await call.ask();
    call.responseHead(JSON_HEADERS);
    assert.notEqual((await call.next()).response_headers, undefined);
    call.responseBody(ANSWER.slice(0, 40), false);
    assert.equal((await call.next()).response_body?.response?.body_mutation, undefined);
    call.responseBody(ANSWER.slice(40), true);
    assert.equal((await call.next()).response_body?.response?.body_mutation, undefined);
    await idle();
    assert.equal((epp.log.at(-1) as unknown as Record<string, unknown>)["outputTokens"], 2);
  });

  it("passes an event on only when it is whole, also where bodies are STREAMED", async () => {
    const events = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n';
    const call = begin({ body: CHAT.replace("}]", '}],"stream":true'), responseMode: STREAMED });
    await call.ask();
    call.responseHead({ "content-type": "text/event-stream" });
    await call.next();
    const mutations = [];
    for (const [piece, isEnd] of [
      [events.slice(0, 10), false],
      [events.slice(10), true],
    ] as const) {
      call.responseBody(piece, isEnd);
      mutations.push((await call.next()).response_body?.response?.body_mutation);
    }
    assert.equal(mutations[0]?.clear_body, true);
    assert.equal(Buffer.from(mutations[1]?.body ?? []).toString(), events);
    await idle();
  });

  it("puts an error event behind a stream that ends without its end", async () => {
    const event = 'data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":null}]}\n\n';
    const call = begin({ body: CHAT, requestMode: BUFFERED, responseMode: STREAMED });
    await call.ask();
    call.responseHead({ "content-type": "text/event-stream" });
    await call.next();
    call.responseBody(event, true);
    const { body } = (await call.next()).response_body?.response?.body_mutation ?? {};
    assert.match(Buffer.from(body ?? []).toString(), /^data: \{"choices".*\n\ndata: \{"error":.*upstream_reset.*\n\n$/s);
    await idle();
  });

  it("settles the booking at the endpoint that served", async () => {
    const call = begin({ body: CHAT });
    const order = (await call.ask()).destination?.split(",") ?? [];
    call.responseHead(JSON_HEADERS, servedMetadata(order[1]!));
    call.responseBody(ANSWER, true);
    await call.next();
    await call.passedBody();
    await idle();
    const { attempts } = epp.log.at(-1)!;
    const name = (address: string) => epp.router.pool.facts.endpoints.find(({ url }) => url.href === `http://${address}`)?.name;
    assert.deepEqual(
      attempts.map(({ endpoint, result }) => [endpoint, result]),
      [
        [name(order[0]!), "passed-over"],
        [name(order[1]!), 200],
      ],
    );
  });

  it("says in the API's shape that no replica could be reached, where the gateway says that it responds itself", async () => {
    const call = begin({ body: CHAT });
    await call.ask();
    const fields = { "response.code_details": { string_value: "upstream_reset_before_response_started{connection_failure}" } };
    call.responseHead({ ":status": "503" }, { attributes: { "envoy.filters.http.ext_proc": { fields } } });
    const { immediate_response } = await call.next();
    assert.equal(immediate_response?.status?.code, 502);
    assert.match(Buffer.from(immediate_response?.body ?? []).toString(), /upstream_unreachable/);
    await idle();
  });

  it("gives everything back when a stream is reset at any point", async () => {
    const steps: readonly ((call: GatewayCall) => Promise<void>)[] = [
      async () => {},
      async (call) => call.head(),
      async (call) => {
        call.head();
        call.say({ request_body: { body: Buffer.from(CHAT.slice(0, 9)), end_of_stream: false } });
      },
      async (call) => void (await call.ask()),
      async (call) => {
        await call.ask();
        call.responseHead(JSON_HEADERS);
        await call.next();
      },
      async (call) => {
        await call.ask();
        call.responseHead(JSON_HEADERS);
        call.responseBody(ANSWER.slice(0, 9), false);
        await call.next();
        await call.next();
      },
    ];
    for (const step of steps) {
      const call = begin({ body: CHAT });
      await step(call);
      call.call.reset();
    }
    await idle();
    assert.equal(epp.router.gate.memory.bodyBytes, 0);
  });

  it("says by the health service whether it serves", async () => {
    assert.equal(await health(client, ""), "SERVING");
    assert.equal(await health(client, "liveness"), "SERVING");
    assert.equal(await health(client, "envoy.service.ext_proc.v3.ExternalProcessor"), "SERVING");
    assert.equal(await health(client, "other"), "call 5");
  });
});

/** Traces: what a receiver gets, what replicas and clients see of them, and what happens when the receiver is no good. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { CHAT, chatBody, postRequest, setUpFetch } from "../support/fetch-router.ts";
import { exchange, openClient } from "../support/raw-client.ts";
import { loadTestConfig, startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import {
  chunkOf,
  jsonAnswer,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../support/scripted-replica.ts";
import { type Manner, type ReceivedSpan, startTraceReceiver, type TraceReceiver } from "../support/trace-receiver.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const OK = jsonAnswer(
  '{"model":"m","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8}}}',
);
const answerOk: Script = (_request, socket) => void socket.write(OK);
const refuse: Script = (_request, socket) => void socket.write(jsonAnswer('{"error":{}}', "503 Busy"));
const silent: Script = () => {};
const stream: Script = (_request, socket) => {
  socket.write(STREAM_HEAD + chunkOf('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'));
  setTimeout(() => socket.write(chunkOf('data: {"choices":[{"finish_reason":"length"}]}\n\ndata: [DONE]\n\n') + LAST_CHUNK), 20);
};

interface Setting {
  readonly router: TestRouter;
  readonly replicas: readonly ScriptedReplica[];
  readonly receiver: TraceReceiver;
  /** Waits for the spans of so many requests, all of which must be valid; returns those of the last one, the request's first. */
  spans(requests?: number): Promise<readonly ReceivedSpan[]>;
}

async function setUp(
  scripts: readonly Script[],
  parameters = "ratio: 1",
  more: { readonly manner?: Manner; readonly spec?: string } & TestRouterOptions = {},
): Promise<Setting> {
  const receiver = await startTraceReceiver(more.manner);
  const replicas = await Promise.all(scripts.map((script) => startScriptedReplica(script)));
  const period = parameters.includes("periodMs") ? "" : "periodMs: 10, ";
  const spec = `  plugins: [ { type: otel-traces, parameters: { url: "${receiver.url}", ${period}${parameters} } } ]\n${more.spec ?? ""}`;
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { ...more, spec },
  );
  after(async () => {
    await router.close();
    await Promise.all([receiver.close(), ...replicas.map((replica) => replica.close())]);
  });
  return {
    router,
    replicas,
    receiver,
    async spans(requests = 1) {
      const roots = () => receiver.spans.filter(({ kind }) => kind === 2);
      await waitUntil(() => roots().length >= requests);
      assert.deepEqual(receiver.faults, []);
      assert.equal(roots().length, requests);
      const root = roots()[requests - 1]!;
      return [root, ...receiver.spans.filter((span) => span.traceId === root.traceId && span.parentSpanId === root.spanId)];
    },
  };
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly path?: string;
}

async function ask(
  { router }: Setting,
  { headers = {}, body = '{"model":"m","prompt":"hello"}', path = "/v1/completions" }: Asked = {},
) {
  const response = await fetch(router.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, text: await response.text().catch(() => "") };
}

const headerOf = ({ replicas }: Setting, name: string, replica = 0, request = 0) =>
  replicas[replica]?.requests[request]?.headers.get(name);

/** Each span is inside of the request's, and begins no sooner than the one before. */
function assertNested([root, ...inner]: readonly ReceivedSpan[]): void {
  let lastNs = root?.startNs ?? 0n;
  for (const { name, startNs, endNs, traceId, parentSpanId } of inner) {
    assert.ok(startNs >= lastNs && endNs <= (root?.endNs ?? 0n), name);
    assert.deepEqual([traceId, parentSpanId], [root?.traceId, root?.spanId]);
    lastNs = startNs;
  }
}

describe("the spans of a request", () => {
  it("are the request, admission, decision and one try, with what each knows", async () => {
    const set = await setUp([answerOk], 'ratio: 1, serviceName: edge, resource: { "deployment.environment.name": test }');
    assert.equal((await ask(set)).status, 200);
    const spans = await set.spans();
    assertNested(spans);
    assert.deepEqual(
      spans.map(({ name, kind, status }) => [name.replace(/127.*/, "…"), kind, status]),
      [
        ["POST /v1/completions", 2, 0],
        ["admission", 1, 0],
        ["decision", 1, 0],
        [`try ${set.router.router.pool.facts.endpoints[0]?.name}`.replace(/127.*/, "…"), 3, 0],
      ],
    );
    const [root, , decision, first] = spans;
    const endpoint = set.router.router.pool.facts.endpoints[0]?.name;
    assert.equal(root?.parentSpanId, "");
    assert.deepEqual(root?.resource, { "service.name": "edge", "deployment.environment.name": "test" });
    const { attributes = {} } = root ?? {};
    assert.deepEqual(
      [
        attributes["http.request.method"],
        attributes["url.path"],
        attributes["http.response.status_code"],
        attributes["gen_ai.operation.name"],
        attributes["gen_ai.request.model"],
        attributes["gen_ai.response.model"],
        attributes["gen_ai.usage.input_tokens"],
        attributes["gen_ai.usage.output_tokens"],
        attributes["gen_ai.usage.cache_read.input_tokens"],
        attributes["signalbox.endpoint"],
        attributes["signalbox.request.id"],
        attributes["signalbox.tries"],
        attributes["error.type"],
      ],
      ["POST", "/v1/completions", 200, "text_completion", "m", "m", 12, 5, 8, endpoint, set.router.log[0]?.id, 1, undefined],
    );
    assert.deepEqual(
      ["model", "target", "endpoint", "endpoints", "candidates", "why"].map((name) => decision?.attributes[`signalbox.${name}`]),
      ["m", "m", endpoint, 1, 1, `${endpoint} was the only candidate.`],
    );
    const address = ["server.address", "server.port", "http.response.status_code"].map((name) => first?.attributes[name]);
    assert.deepEqual(address, ["127.0.0.1", set.replicas[0]?.port, 200]);
    assert.deepEqual(
      first?.events.map(({ name }) => name),
      ["first byte"],
    );
    assert.equal(headerOf(set, "traceparent"), `00-${root?.traceId}-${first?.spanId}-01`);
  });

  it("have the target and the rule of a rewrite", async () => {
    const documents =
      "---\napiVersion: llm-d.ai/v1alpha2\nkind: InferenceModelRewrite\nmetadata: { name: alias }\nspec:\n  poolRef: { name: default }\n" +
      "  rules: [ { matches: [ { model: { type: Exact, value: food } } ], targets: [ { modelRewrite: m } ] } ]\n";
    const set = await setUp([answerOk], "ratio: 1", { documents });
    await ask(set, { body: '{"model":"food","prompt":"hello"}' });
    const [root, , decision] = await set.spans();
    assert.deepEqual([root?.attributes["gen_ai.request.model"], root?.attributes["gen_ai.response.model"]], ["food", "m"]);
    assert.match(String(decision?.attributes["signalbox.rule"]), /alias/);
  });

  it("have a span for each try, and each replica gets its own", async () => {
    const set = await setUp([refuse, refuse]);
    assert.equal((await ask(set)).status, 503);
    const spans = await set.spans();
    assertNested(spans);
    const tries = spans.filter(({ kind }) => kind === 3);
    assert.deepEqual(
      tries.map(({ status, attributes }) => [
        status,
        attributes["http.response.status_code"],
        attributes["http.request.resend_count"],
        attributes["error.type"],
      ]),
      [
        [2, 503, undefined, "503"],
        [2, 503, 1, "503"],
      ],
    );
    const sent = set.replicas.map((replica) => replica.requests[0]?.headers.get("traceparent")?.split("-")[2]);
    assert.deepEqual(sent.sort(), tries.map(({ spanId }) => spanId).sort());
    assert.deepEqual([spans[0]?.status, spans[0]?.attributes["signalbox.tries"]], [2, 2]);
  });

  it("have the first token's time and the finish reason of a stream", async () => {
    const set = await setUp([stream]);
    await ask(set, {
      path: "/v1/chat/completions",
      body: '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}',
    });
    const [root, , , first] = await set.spans();
    assert.equal(root?.attributes["gen_ai.operation.name"], "chat");
    assert.deepEqual(root?.attributes["gen_ai.response.finish_reasons"], ["length"]);
    const toFirst = Number(root?.attributes["gen_ai.response.time_to_first_chunk"]);
    const tookNs = Number((root?.endNs ?? 0n) - (root?.startNs ?? 0n));
    assert.ok(toFirst > 0 && toFirst * 1e9 < tookNs, `${toFirst} s of ${tookNs} ns`);
    const event = first?.events[0]?.atNs ?? 0n;
    assert.ok(event > (first?.startNs ?? 0n) && event < (first?.endNs ?? 0n));
    assert.ok(Number(root?.attributes["gen_ai.usage.output_tokens"]) > 0);
    assert.equal(root?.attributes["signalbox.output_tokens.estimated"], true);
  });

  it("tell of a client that left", async () => {
    const set = await setUp([silent]);
    const client = await openClient(set.router.port);
    const body = '{"model":"m","prompt":"hello"}';
    client.socket.write(
      `POST /v1/completions HTTP/1.1\r\nHost: r\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await waitUntil(() => set.replicas[0]?.requests.length === 1);
    client.socket.destroy();
    const [root, , , first] = await set.spans();
    assert.deepEqual([root?.status, root?.attributes["error.type"]], [0, "client-left"]);
    assert.equal("http.response.status_code" in (root?.attributes ?? {}), false);
    assert.deepEqual([first?.status, first?.attributes["error.type"]], [2, "aborted"]);
  });

  const refusals: readonly (readonly [why: string, asked: Asked, status: number, error: string, names: readonly string[]])[] = [
    ["an unknown model", { body: '{"model":"x","prompt":"a"}' }, 404, "model_not_found", ["admission", "decision"]],
    ["no JSON", { body: "{" }, 400, "invalid_json", []],
  ];
  for (const [why, asked, status, error, names] of refusals) {
    it(`of one that is refused (${why}) say why`, async () => {
      const set = await setUp([answerOk]);
      assert.equal((await ask(set, asked)).status, status);
      const [root, ...inner] = await set.spans();
      assert.deepEqual(
        [root?.status, root?.attributes["http.response.status_code"], root?.attributes["error.type"]],
        [0, status, error],
      );
      assert.deepEqual(
        inner.map(({ name }) => name),
        names,
      );
    });
  }

  it("are not made for what is no request to an API", async () => {
    const set = await setUp([answerOk]);
    for (const path of ["/health", "/ready", "/v1/models", "/nothing"]) await (await fetch(set.router.url + path)).text();
    await ask(set);
    await set.spans(1);
  });
});

describe("traceparent", () => {
  it("of the client is continued, and its tracestate goes on", async () => {
    const set = await setUp([answerOk], "ratio: 0");
    await ask(set, { headers: { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "a=1,b=2" } });
    const [root, , , first] = await set.spans();
    assert.deepEqual([root?.traceId, root?.parentSpanId, root?.traceState], [TRACE, SPAN, "a=1,b=2"]);
    assert.deepEqual([headerOf(set, "traceparent"), headerOf(set, "tracestate")], [`00-${TRACE}-${first?.spanId}-01`, "a=1,b=2"]);
    assert.equal(set.replicas[0]?.requests[0]?.head.match(/traceparent/gi)?.length, 1);
  });

  /** tests/plugins/observers/trace-context.test.ts has more of them. */
  const hostile: readonly string[] = [`00-${"0".repeat(32)}-${SPAN}-01`, "\u00e9\u00ff"];
  for (const value of hostile) {
    it(`that is not valid begins a new trace: ${value.slice(0, 60)}`, async () => {
      const set = await setUp([answerOk]);
      await ask(set, { headers: { TraceParent: value, TraceState: "evil=1" } });
      const [root, , , first] = await set.spans();
      assert.equal(root?.parentSpanId, "");
      assert.notEqual(root?.traceId, TRACE);
      assert.equal(headerOf(set, "traceparent"), `00-${root?.traceId}-${first?.spanId}-01`);
      assert.equal(headerOf(set, "tracestate"), undefined);
    });
  }

  it("that comes twice begins a new trace", async () => {
    const set = await setUp([answerOk]);
    const body = '{"model":"m","prompt":"hello"}';
    const line = `traceparent: 00-${TRACE}-${SPAN}-01\r\n`;
    const head = `POST /v1/completions HTTP/1.1\r\nHost: r\r\n${line}Content-Type: application/json\r\n${line}Content-Length: ${body.length}\r\n\r\n`;
    await exchange(set.router.port, head + body);
    const [root] = await set.spans();
    assert.notEqual(root?.traceId, TRACE);
    assert.equal(set.replicas[0]?.requests[0]?.head.match(/traceparent/gi)?.length, 1);
  });

  const untouched: readonly (readonly [why: string, parameters: string, headers: Readonly<Record<string, string>>])[] = [
    ["the caller does not record", "ratio: 1", { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: "a=1" }],
    ["the request is none of the sample", "ratio: 0", { traceparent: "nonsense", tracestate: "a=1" }],
    ["its flag does not count", "ratio: 0, followParent: false", { traceparent: `00-${TRACE}-${SPAN}-01` }],
    ["there is none", "ratio: 0", {}],
  ];
  for (const [why, parameters, headers] of untouched) {
    it(`passes as it came where ${why}`, async () => {
      const set = await setUp([answerOk], parameters);
      await ask(set, { headers });
      assert.deepEqual(
        [headerOf(set, "traceparent"), headerOf(set, "tracestate")],
        [headers["traceparent"], headers["tracestate"]],
      );
      assert.deepEqual([set.receiver.spans, set.receiver.requests.length], [[], 0]);
    });
  }
});

describe("a receiver that is no good", () => {
  for (const manner of ["500", "hang", "trickle"] as const) {
    it(`changes nothing for clients: ${manner}`, async () => {
      const log = collectedLog();
      const set = await setUp([answerOk], "ratio: 1, timeoutMs: 200, queueSize: 64", { manner, operatorLog: log });
      for (let count = 0; count < 100; count++) assert.equal((await ask(set)).status, 200);
      await waitUntil(() => set.receiver.requests.length > 0);
      set.receiver.manner = "ok";
      for (let count = 0; set.receiver.spans.length === 0 && count < 2000; count++) {
        await ask(set);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.ok(set.receiver.spans.length > 0);
      // A response that trickles had its status before it was cut, so its spans count as taken.
      const lines = log.lines.filter((line) => line.includes("Spans are lost"));
      assert.ok(lines.length === 1 || (manner === "trickle" && lines.length === 0), lines.join("\n"));
    });
  }

  it("does not keep the router from stopping", async () => {
    const set = await setUp([answerOk], "ratio: 1, timeoutMs: 60000", { manner: "hang" });
    await ask(set);
    await waitUntil(() => set.receiver.requests.length > 0);
    const begunMs = performance.now();
    await set.router.close();
    assert.ok(performance.now() - begunMs < 30_000);
  });
});

it("what is left is sent when the router stops", async () => {
  const set = await setUp([answerOk], "ratio: 1, periodMs: 60000");
  await ask(set);
  assert.equal(set.receiver.requests.length, 0);
  await set.router.close();
  await set.spans();
});

it("a config without the plugin ends tracing, and what is left is sent", async () => {
  const set = await setUp([answerOk], "ratio: 1, periodMs: 60000");
  await ask(set);
  set.router.router.replace(await loadTestConfig(set.replicas.map(({ url }) => url)));
  await ask(set);
  await set.spans();
  assert.equal(headerOf(set, "traceparent", 0, 1), undefined);
});

it("requests of the fetch face are traced too", async () => {
  const receiver = await startTraceReceiver();
  const parameters = `{ url: "${receiver.url}", ratio: 1, periodMs: 10 }`;
  const { router, replica } = await setUpFetch(answerOk, {
    spec: `  plugins: [ { type: otel-traces, parameters: ${parameters} } ]`,
  });
  after(() => receiver.close());
  const response = await router.fetch(postRequest(CHAT, chatBody(), { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } }));
  await response.text();
  await waitUntil(() => receiver.spans.length >= 4);
  assert.deepEqual(receiver.faults, []);
  assert.deepEqual(
    receiver.spans.map(({ traceId }) => traceId),
    Array(4).fill(TRACE),
  );
  const sent = replica.requests[0]?.headers.get("traceparent");
  assert.equal(sent, `00-${TRACE}-${receiver.spans.find(({ kind }) => kind === 3)?.spanId}-01`);
});

describe("the program, told to stop,", () => {
  for (const manner of ["ok", "hang"] as const) {
    it(`ends with what is left sent, or without it: ${manner}`, { timeout: 60_000 }, async () => {
      const receiver = await startTraceReceiver(manner);
      const replica = await startScriptedReplica(answerOk);
      const parameters = `{ url: "${receiver.url}", ratio: 1, periodMs: 60000, timeoutMs: 60000 }`;
      const router = await startRouterProcess([replica.url], {
        spec: `  plugins: [ { type: otel-traces, parameters: ${parameters} } ]\n`,
      });
      after(async () => {
        router.kill("SIGKILL");
        await Promise.all([receiver.close(), replica.close()]);
      });
      const body = '{"model":"m","prompt":"hello"}';
      const headers = { "content-type": "application/json", connection: "close" };
      const response = await fetch(`http://127.0.0.1:${router.port}/v1/completions`, { method: "POST", headers, body });
      await response.text();
      const stoppedAtMs = performance.now();
      router.kill("SIGTERM");
      const { code, atMs } = await router.exited;
      assert.equal(code, 0, router.errors);
      // Far less than the 60 s that an export may take otherwise.
      assert.ok(atMs - stoppedAtMs < 20_000, `${atMs - stoppedAtMs} ms`);
      assert.deepEqual([receiver.faults, receiver.spans.length], [[], manner === "ok" ? 4 : 0]);
      if (manner !== "ok") assert.match(router.printed + router.errors, /Spans are lost/);
    });
  }
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deflateSync, gzipSync } from "node:zlib";
import { dryRunNow } from "../../../apps/admin/dry-run-now.ts";
import { savedFacts } from "../../../apps/admin/saved-facts.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import { z } from "../../../core/contract/options.ts";
import { type Definition, defineFilter, defineRewriter, defineScorer } from "../../../core/contract/plugin.ts";
import type { DryRunRequest } from "../../../core/intake/dry-run.ts";
import { withPlainBody } from "../../../core/intake/dry-run-body.ts";
import { PromptPrefix } from "../../../core/state/prefix-index.ts";
import { CODINGS } from "../../support/compressed.ts";
import { exchange, postBytes, readAnswer } from "../../support/raw-client.ts";
import { outstanding, startTestRouter, type TestRouter } from "../../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../../support/scripted-replica.ts";
import { makeView } from "../../support/view.ts";

/** Of the prefix index: more than its entries take here. */
const INDEX_WORDS = 20_000;
const CHAT = "/v1/chat/completions";
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food } } ]
      targets: [ { modelRewrite: v1, weight: 70 }, { modelRewrite: v2, weight: 30 } ]
`;

const chat = (text: string, model = "food") => `{"model":"${model}","messages":[{"role":"user","content":"${text}"}]}`;
const asked = (body: string | Uint8Array, more: Partial<DryRunRequest> = {}): DryRunRequest => ({
  path: CHAT,
  headers: [],
  body: typeof body === "string" ? Buffer.from(body) : body,
  ...more,
});

let replicas: readonly ScriptedReplica[];
const open: TestRouter[] = [];
let received = 0;

before(async () => {
  const script = (_request: unknown, socket: { write(text: string): unknown }) => {
    received += 1;
    socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true,"usage":{"prompt_tokens":300,"completion_tokens":3}}'));
  };
  replicas = await Promise.all([1, 2, 3].map(() => startScriptedReplica(script, ["v1", "v2", "m"])));
});
after(async () => {
  await Promise.all(open.map((router) => router.close()));
  await Promise.all(replicas.map((replica) => replica.close()));
});

async function start(spec = "", plugins: readonly Definition[] = []): Promise<TestRouter> {
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { documents: REWRITE, spec, plugins },
  );
  open.push(router);
  return router;
}

const post = (router: TestRouter, body: string, lines = "") =>
  exchange(router.port, postBytes(CHAT, body, lines)).then(readAnswer);
const headerOf = (head: string, name: string) => new RegExp(`^${name}: (.*)\r$`, "im").exec(`${head}\r\n`)?.[1];

/** Everything that a request could leave behind in a router, apart from times. */
function stateOf({ router, log }: TestRouter): string {
  const { config, pool } = router;
  const { load } = pool;
  const { nowMs: _now, savedAt: _saved, ...facts } = savedFacts(router);
  const arrays = [load.inFlight, load.prefillTokens, load.pausedUntilMs].map((numbers) => Array.from(numbers));
  const pages = config.observers.flatMap(({ plugin }) => plugin.pages ?? []);
  const shown = pages.map(({ render }) => render(makeView(router.pool.facts.endpoints), new URLSearchParams()));
  const counts = shown.flatMap((text) =>
    text.split("\n").filter((line) => /^signalbox_(request|target|attempt|plugin)|decisions/.test(line)),
  );
  const endpoints = facts.endpoints.map(({ load: { scrapedAtMs: _at, ...numbers }, ...endpoint }) => ({ ...endpoint, numbers }));
  return JSON.stringify([
    { ...facts, endpoints },
    arrays,
    { ...router.gate.memory },
    pool.prefixStats,
    counts,
    outstanding(router),
    log.length,
  ]);
}

describe("a dry run", () => {
  const policies: readonly (readonly [name: string, spec: string])[] = [
    ["the default profile", ""],
    ["round-robin", "  profiles: [ { name: p, plugins: [ { pluginRef: round-robin } ] } ]\n"],
    [
      "session affinity and the coldest cache",
      "  profiles: [ { name: p, plugins: [ { pluginRef: no-hit-lru }, { pluginRef: session-affinity-scorer } ] } ]\n",
    ],
  ];
  for (const [name, spec] of policies) {
    it(`a thousand times with ${name} leaves everything as it was`, async () => {
      const router = await start(spec);
      for (let index = 0; index < 5; index++) await post(router, chat(`prompt ${index} `.repeat(60)));
      const { prefix } = dryRunNow(router.router, asked(chat("any prompt"))).request;
      const words = prefix instanceof PromptPrefix ? prefix.residency.table.words.subarray(0, INDEX_WORDS) : [];
      const index = () => Array.from(words).join();
      const before = { state: stateOf(router), received, index: index() };
      for (let round = 0; round < 1_000; round++) {
        const { decision } = dryRunNow(router.router, asked(chat(`prompt ${round % 9} `.repeat(60 + (round % 3)))));
        assert.equal(decision.refusal, undefined);
      }
      assert.deepEqual({ state: stateOf(router), received, index: index() }, before);
    });
  }

  for (const [name, spec] of policies.slice(0, 2)) {
    it(`just before a request, with ${name}, names its target and its endpoint`, async () => {
      const router = await start(spec);
      const texts = Array.from({ length: 12 }, (_, index) => chat(`a long conversation, number ${index}. `.repeat(20)));
      for (const text of texts) await post(router, text);
      // All twelve are cached now, each at one endpoint and under one target: the draw of the target decides what is best.
      for (const text of [...texts, ...texts]) {
        const { decision } = dryRunNow(router.router, asked(text));
        const [leg] = decision.legs;
        const ties = leg?.candidates.filter((_, index) => leg.totals[index] === Math.max(...Array.from(leg.totals))).length;
        const { head } = await post(router, text);
        assert.equal(headerOf(head, "x-signalbox-model"), decision.target);
        if (name !== "the default profile" || ties === 1)
          assert.equal(headerOf(head, "x-signalbox-endpoint"), leg?.order[0]?.name);
      }
    });
  }

  it("knows what is cached, and what a session token asks for", async () => {
    const router = await start(
      "  profiles: [ { name: p, plugins: [ { pluginRef: session-affinity-scorer }, { pluginRef: outstanding-work } ] } ]\n",
    );
    const text = chat("a prompt that is long enough for some blocks. ".repeat(40), "m");
    const { head } = await post(router, text);
    const endpoint = headerOf(head, "x-signalbox-endpoint");
    const token = headerOf(head, "x-session-token") ?? "";
    const other = router.router.pool.facts.endpoints.find(({ name }) => name !== endpoint)!;
    const otherToken = Buffer.from(other.name).toString("base64");
    assert.equal(
      dryRunNow(router.router, asked(text, { headers: [["X-Session-Token", token]] })).decision.legs[0]?.order[0]?.name,
      endpoint,
    );
    const { decision } = dryRunNow(router.router, asked(text, { headers: [["x-session-token", otherToken]] }));
    assert.deepEqual(decision.legs[0]?.scores.find(({ scorer }) => scorer === "session-affinity-scorer")?.values.length, 3);
    const cached = dryRunNow(router.router, asked(text)).decision.legs[0]!;
    assert.equal(cached.order[0]?.name, endpoint);
    assert.ok(cached.estimates[0]! > 200, "tokens of the prompt are cached at the first endpoint");
    assert.equal(cached.estimates[3], 0);
  });

  it("records a scorer that throws as a fault, and tells the log nothing", async () => {
    const logged: string[] = [];
    const note = (message: string) => void logged.push(message);
    const broken = defineScorer({
      type: "broken",
      summary: "Throws.",
      options: z.strictObject({}),
      create: () => ({
        score() {
          throw new Error("on purpose");
        },
      }),
    }) as Definition;
    const router = await startTestRouter([replicas[0]!.url], {
      spec: "  profiles: [ { name: p, plugins: [ { pluginRef: broken } ] } ]\n  plugins: [ { type: broken } ]\n",
      plugins: [broken],
      operatorLog: { info: note, warn: note, error: note },
    });
    open.push(router);
    logged.length = 0;
    const { decision } = dryRunNow(router.router, asked(chat("x", "m")));
    assert.deepEqual(decision.faults, [{ plugin: "broken", message: "on purpose" }]);
    assert.deepEqual(logged, []);
  });

  it("asks a rewriter for its preview, and one that has none for its draw", async () => {
    const calls: string[] = [];
    const rewriter = (type: string, hasPreview: boolean) =>
      defineRewriter({
        type,
        summary: "Draws m.",
        options: z.strictObject({}),
        create: () => ({
          clientModels: [],
          draw({ model }) {
            calls.push(`${type} draw`);
            return model === type ? { target: "m", rule: type } : undefined;
          },
          ...(hasPreview && {
            preview({ model }: { model: string }) {
              calls.push(`${type} preview`);
              return model === type ? { target: "m", rule: type } : undefined;
            },
          }),
        }),
      }) as Definition;
    const router = await start("  plugins: [ { type: one }, { type: two } ]\n", [rewriter("one", true), rewriter("two", false)]);
    calls.length = 0;
    assert.equal(dryRunNow(router.router, asked(chat("x", "two"))).decision.rule, "two");
    assert.deepEqual(calls, ["one preview", "two draw"]);
  });
});

describe("an invalid request gets the error that a client would get:", () => {
  const notUtf8 = Uint8Array.of(...Buffer.from('{"model":"'), 0xff, ...Buffer.from('"}'));
  const rows: readonly (readonly [name: string, asked: DryRunRequest, lines: string])[] = [
    ["no JSON", asked("hello"), ""],
    ["half a document", asked('{"model":"m"'), ""],
    ["nothing", asked(""), ""],
    ["no model", asked('{"messages":[]}'), ""],
    ["a model that is no text", asked('{"model":7,"messages":[]}'), ""],
    ["a model that is not UTF-8", asked(notUtf8), ""],
    ["a path that is not served", asked("{}", { path: "/v1/chat" }), ""],
    ["a path for GET", asked("{}", { path: "/v1/models" }), ""],
    [
      "a body that is declared as text",
      asked("{}", { headers: [["content-type", "text/plain"]] }),
      "Content-Type: text/plain\r\n",
    ],
    ["a body that is too large", asked(chat("x".repeat(5_000))), ""],
  ];
  for (const [name, question, lines] of rows) {
    it(name, async () => {
      const router = open[0] ?? (await start());
      const limited = name.includes("too large") ? await start("  limits: { bodyBytes: 2000 }\n") : router;
      const { path, body } = question;
      const type = /content-type/i.test(lines) ? "" : "Content-Type: application/json\r\n";
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${type}${lines}Content-Length: ${body.length}\r\n\r\n`;
      const { status, json } = readAnswer(await exchange(limited.port, Buffer.concat([Buffer.from(head), body])));
      const { error } = json as { error: { code: string; message: string } };
      assert.throws(
        () => dryRunNow(limited.router, question),
        (thrown) =>
          thrown instanceof RouterError &&
          thrown.status === status &&
          thrown.code === error.code &&
          thrown.message === error.message,
        JSON.stringify(json),
      );
    });
  }

  it("a compressed body is decided on like the plain one", async () => {
    const { router } = open[0] ?? (await start());
    const plain = asked(chat("x"));
    for (const [coding, compress] of CODINGS) {
      const compressed = { ...plain, body: compress(Buffer.from(plain.body)), headers: [["Content-Encoding", coding]] as const };
      assert.throws(() => dryRunNow(router, compressed), { code: "unsupported_media_type" });
      const { request } = dryRunNow(router, await withPlainBody(compressed, router.config));
      assert.deepEqual(Buffer.from(request.body), Buffer.from(plain.body));
    }
    assert.equal(await withPlainBody(plain, router.config), plain);
  });

  const badBodies: readonly (readonly [name: string, coding: string, body: Uint8Array, code: string])[] = [
    ["of another coding", "deflate", deflateSync(chat("x")), "unsupported_media_type"],
    ["that is no such thing", "gzip", Buffer.from(chat("x")), "bad_request"],
    ["that is cut", "gzip", gzipSync(chat("x")).subarray(0, -9), "bad_request"],
    ["that becomes too long", "gzip", gzipSync(Buffer.alloc(33 * 1024 * 1024, "a")), "body_too_large"],
  ];
  for (const [name, coding, body, code] of badBodies) {
    it(`refuses a compressed body ${name}`, async () => {
      const { router } = open[0] ?? (await start());
      const question = { ...asked(chat("x")), body, headers: [["content-encoding", coding]] as const };
      await assert.rejects(withPlainBody(question, router.config), { code });
    });
  }

  it("a model that nobody serves is a decision that refuses, and says who was dropped", async () => {
    const { decision } = dryRunNow((open[0] ?? (await start())).router, asked(chat("x", "unknown")));
    assert.equal(decision.refusal?.code, "model_not_found");
    assert.deepEqual(
      decision.legs[0]?.dropped.map(({ filter, endpoints }) => [filter, endpoints.length]),
      [["serves-model", 3]],
    );
  });

  it("a filter that throws", async () => {
    const broken = defineFilter({
      type: "broken",
      summary: "Throws.",
      options: z.strictObject({}),
      create: () => ({
        filter() {
          throw new Error("on purpose");
        },
      }),
    }) as Definition;
    const router = await start(
      "  profiles: [ { name: p, plugins: [ { pluginRef: broken } ] } ]\n  plugins: [ { type: broken } ]\n",
      [broken],
    );
    assert.throws(
      () => dryRunNow(router.router, asked(chat("x", "m"))),
      (thrown) => thrown instanceof RouterError && thrown.code === "plugin_fault" && thrown.fault?.text === "on purpose",
    );
  });

  const heads: readonly (readonly [name: string, more: Partial<DryRunRequest>])[] = [
    ["a header that begins another line", { headers: [["x-a", "1\r\nx-b: 2"]] }],
    ["a header that ends the head", { headers: [["x-a", "1\r\n\r\nGET / HTTP/1.1"]] }],
    ["a name that is none", { headers: [["x a", "1"]] }],
    ["a path that ends the line", { path: "/v1/chat/completions HTTP/1.1\r\nx: y\r\n\r\n" }],
    ["no path", { path: "chat" }],
    ["headers without end", { headers: Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, "1"] as const) }],
  ];
  for (const [name, more] of heads) {
    it(name, async () => {
      const { router } = open[0] ?? (await start());
      assert.throws(() => dryRunNow(router, asked(chat("x", "m"), more)), RouterError);
    });
  }
});

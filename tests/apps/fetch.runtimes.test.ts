import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConfigError, createRouter } from "../../apps/fetch.ts";
import type { Log } from "../../core/contract/log.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { answerOk, CHAT, chatBody, errorOf, postRequest, setUpFetch } from "../support/fetch-router.ts";
import { waitUntil } from "../support/router.ts";
import { chunkOf, STREAM_HEAD } from "../support/scripted-replica.ts";

describe("createRouter", () => {
  it("works with addresses only", async () => {
    const { replica } = await setUpFetch(answerOk);
    const router = await createRouter({ urls: [replica.url] });
    assert.equal(await router.whenReady(10_000), true);
    assert.equal((await router.fetch(postRequest(CHAT, chatBody()))).status, 200);
    router.close();
  });

  it("resolves to false when no endpoint is ready in time", async () => {
    const router = await createRouter({ urls: ["http://127.0.0.1:9"] });
    assert.equal(await router.whenReady(1), false);
    router.close();
  });

  it("refuses a broken config with every problem and its position", async () => {
    const text = "apiVersion: signalbox/v1\nkind: Router\nspec:\n  pol: {}\n  limits: { retries: -1 }\n";
    await assert.rejects(createRouter({ text }), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^text:4:3 .*did you mean "pool"/im);
      assert.match(error.message, /^text:5:\d+ .*retries/m);
      assert.ok(error.problems.length >= 2);
      return true;
    });
    await assert.rejects(createRouter({}), /no document of kind Router/);
    await assert.rejects(createRouter({ files: ["/nowhere/signalbox.yaml"] }), /signalbox\.yaml/);
    await assert.rejects(createRouter({ files: [], text }), /not both/);
  });

  it("runs plugins from the options", async () => {
    let asked = 0;
    const mine = defineScorer({
      type: "mine",
      summary: "Counts its calls.",
      options: z.strictObject({ by: z.int() }),
      create: ({ by }) => ({
        score(_request, candidates) {
          asked += by;
          return candidates.map(() => 1);
        },
      }),
    });
    const { replica } = await setUpFetch(answerOk);
    const spec = "plugins: [ { type: mine, parameters: { by: 5 } } ]\n  profiles: [ { plugins: [ { pluginRef: mine } ] } ]";
    const router = await createRouter({
      text: `apiVersion: signalbox/v1\nkind: Router\nspec:\n  ${spec}\n`,
      urls: [replica.url],
      plugins: [mine],
    });
    await router.whenReady(10_000);
    await router.fetch(postRequest(CHAT, chatBody()));
    assert.equal(asked, 5);
    router.close();
    await assert.rejects(createRouter({ urls: [replica.url], plugins: [{ ...mine, type: "queue" }] }), /"queue" exists already/);
  });

  it("on close, ends requests under way and accepts no more", async () => {
    const { router, replica } = await setUpFetch((request, socket) => {
      if (request.body.includes("stream")) socket.write(STREAM_HEAD + chunkOf("data: {}\n\n"));
    });
    const streamed = await router.fetch(postRequest(CHAT, chatBody(',"stream":true')));
    const waiting = router.fetch(postRequest(CHAT, chatBody()));
    await waitUntil(() => replica.requests.length === 2);
    router.close();
    assert.equal((await errorOf(await waiting)).code, "shutting_down");
    await assert.rejects(streamed.text(), /broke off/);
    assert.equal((await errorOf(await router.fetch(postRequest(CHAT, chatBody())))).code, "shutting_down");
    await waitUntil(() => replica.sockets.size === 0);
  });
});

describe("an address or header the wire would refuse", () => {
  const { log, lines } = recordingLog();
  it("gets an error response with the same message", async () => {
    const { router } = await setUpFetch(answerOk, { log });
    const refused: readonly { request: Request; status: number; message: RegExp }[] = [
      { request: new Request("http://router/a|b"), status: 400, message: /target is not valid/ },
      { request: new Request("foo:bar"), status: 400, message: /begins with a slash/ },
      { request: new Request(`http://router/${"a".repeat(40_000)}`), status: 431, message: /too large/ },
      { request: new Request("http://router/", { headers: { "x-a": "b\x01c" } }), status: 400, message: /control character/ },
    ];
    for (const { request, status, message } of refused) {
      const error = await errorOf(await router.fetch(request));
      assert.equal(error.status, status, request.url.slice(0, 40));
      assert.match(error.message, message);
    }
    assert.deepEqual(lines, []);
  });
});

function recordingLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const keep = (message: string) => void lines.push(message);
  return { log: { info: keep, warn: keep, error: keep }, lines };
}

describe("the admin API of an embedded router", () => {
  const admin = (path: string, method = "GET", headers: Record<string, string> = {}) =>
    new Request(`http://app/api/v1${path}`, { method, headers: { "content-type": "application/json", ...headers } });

  it("shows to everyone, and changes with the token only", async () => {
    process.env["SB_EMBED_TOKEN"] = "open-sesame";
    const urls = ["http://127.0.0.1:9"];
    const router = await createRouter({
      text: `apiVersion: signalbox/v1\nkind: Router\nspec: { admin: { token: "env:SB_EMBED_TOKEN" } }\n`,
      urls,
    });
    assert.equal((await router.admin(admin("/endpoints"))).status, 200);
    assert.equal((await router.admin(admin("/endpoints/127.0.0.1-9/drain", "POST"))).status, 401);
    const token = { authorization: "Bearer open-sesame" };
    const drained = await router.admin(admin("/endpoints/127.0.0.1-9/drain", "POST", token));
    assert.equal(((await drained.json()) as { intent: { kind: string } }).intent.kind, "drain");
    assert.equal((await router.admin(admin("/config/reload", "POST", token))).status, 200);
    delete process.env["SB_EMBED_TOKEN"];
    router.close();
  });

  it("changes nothing any more once it is closed, also where a change was under way", async () => {
    process.env["SB_EMBED_TOKEN"] = "open-sesame";
    const made: string[] = [];
    const counted = defineScorer({
      type: "counted",
      summary: "Says when it is made and disposed.",
      options: z.strictObject({}),
      create() {
        made.push("made");
        return { score: (_request, candidates) => candidates.map(() => 1), dispose: () => void made.push("disposed") };
      },
    });
    const router = await createRouter({
      text: `apiVersion: signalbox/v1\nkind: Router\nspec: { admin: { token: "env:SB_EMBED_TOKEN" }, plugins: [ { type: counted } ] }\n`,
      urls: ["http://127.0.0.1:9"],
      plugins: [counted],
    });
    const rewrite = {
      apiVersion: "llm-d.ai/v1alpha2",
      kind: "InferenceModelRewrite",
      metadata: { name: "food" },
      spec: { poolRef: { name: "default" }, rules: [{ targets: [{ modelRewrite: "v1" }] }] },
    };
    const changed = router.admin(
      new Request("http://app/api/v1/rewrites/food", {
        method: "PUT",
        headers: { "content-type": "application/json", authorization: "Bearer open-sesame" },
        body: JSON.stringify(rewrite),
      }),
    );
    router.close();
    const refused = (await (await changed).json()) as { faults?: readonly string[] };
    assert.match(String(refused.faults), /stopping/);
    assert.deepEqual(made, ["made", "disposed"]);
    delete process.env["SB_EMBED_TOKEN"];
  });

  it("without a token nothing can be changed", async () => {
    const router = await createRouter({ urls: ["http://127.0.0.1:9"] });
    const refused = await router.admin(admin("/config/reload", "POST"));
    assert.equal(((await refused.json()) as { code: string }).code, "token_required");
    router.close();
  });
});

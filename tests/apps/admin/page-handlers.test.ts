import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Status } from "../../../apps/admin/status.ts";
import type { FetchRouter } from "../../../apps/fetch.ts";
import { readEventSource } from "../../support/event-source.ts";
import { answerOk, CHAT, chatBody, postRequest, setUpFetch } from "../../support/fetch-router.ts";
import { serveNatively } from "../../support/native-server.ts";
import { openClient } from "../../support/raw-client.ts";

const URL = "http://host/anywhere";

describe("the fetch face shows what the admin port shows", () => {
  let router: FetchRouter;
  before(async () => {
    ({ router } = await setUpFetch(answerOk));
    await router.fetch(postRequest(CHAT, chatBody(), { headers: { "x-request-id": "one" } }));
  });

  it("metrics", async () => {
    const response = await router.metrics(new Request(URL));
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.match(await response.text(), /^signalbox_requests_total\{api="chat-completions".* 1$/m);
  });

  it("the status", async () => {
    const status = (await (await router.status(new Request(URL))).json()) as Status;
    assert.deepEqual(
      status.endpoints.map(({ phase }) => phase),
      ["ready"],
    );
    assert.deepEqual(status.listen, { host: "", port: 0 });
  });

  it("the last decisions, or one of them", async () => {
    const idsOf = async (query: string) => {
      const response = await router.explain(new Request(URL + query));
      return ((await response.json()) as { decisions: { id: string }[] }).decisions.map(({ id }) => id);
    };
    assert.deepEqual([await idsOf(""), await idsOf("?id=one"), await idsOf("?id=two")], [["one"], ["one"], []]);
  });

  it("a dry run, by the API", async () => {
    const viaApi = await router.admin(postRequest("/api/v1/explain", "{"));
    const mounted = await router.explain(postRequest("/anywhere", "{"));
    assert.equal(mounted.status, viaApi.status);
    assert.deepEqual(await mounted.json(), await viaApi.json());
  });

  it("only to those who read", async () => {
    for (const handler of [router.metrics, router.status]) {
      const response = await handler(postRequest("/anywhere", "{}"));
      assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET, HEAD"]);
    }
    const head = await router.status(new Request(URL, { method: "HEAD" }));
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });
});

describe("the stream of decisions under this runtime's own server", () => {
  it("hands on each event as it comes, frees the place of who leaves, and ends with the router", async () => {
    const { router } = await setUpFetch(answerOk);
    const server = await serveNatively((request) => router.admin(request));
    after(() => server.close());
    const open = async () => {
      const client = await openClient(server.port);
      client.send("GET /api/v1/decisions/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await client.until((received) => received.includes(": listening"));
      return client;
    };
    const client = await open();
    for (const id of ["a", "b"]) {
      await router.fetch(postRequest(CHAT, chatBody(), { headers: { "x-request-id": id } }));
      await client.until((received) => received.includes(`"id":"${id}"`));
    }
    const isFull = async () => {
      const response = await router.admin(new Request("http://host/api/v1/decisions/stream", { method: "HEAD" }));
      return response.status === 503;
    };
    const others = await Promise.all(Array.from({ length: 15 }, open));
    assert.equal(await isFull(), true);
    for (const other of others) other.destroy();
    for (let tries = 0; tries < 200 && (await isFull()); tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(await isFull(), false);
    router.close();
    await client.until((received) => received.endsWith("0\r\n\r\n"));
    client.destroy();
  });

  it("drops events for a reader that pauses", async () => {
    const { router } = await setUpFetch(answerOk);
    const response = await router.admin(new Request("http://host/api/v1/decisions/stream"));
    for (let i = 0; i < 200; i++) await router.fetch(postRequest(CHAT, chatBody()));
    router.close();
    const events = readEventSource(new Uint8Array(await response.arrayBuffer()));
    const last = events.at(-1);
    assert.equal(last?.type, "dropped");
    assert.equal(events.length - 1 + (JSON.parse(last?.data ?? "") as { count: number }).count, 200);
  });
});

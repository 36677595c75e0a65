import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { ObserverStream, SendEvent } from "../../../core/contract/observer.ts";
import { makeApi } from "../../support/api.ts";
import { settle } from "../../support/fake-clock.ts";

const URL = "http://localhost/api/v1/things/stream";

/** The API with an observer that has one stream; `tell` sends to whoever listens. */
async function makeStream(overrides: Partial<ObserverStream> = {}) {
  const senders = new Set<SendEvent>();
  const stream: ObserverStream = {
    path: "/things/stream",
    summary: "Things.",
    parameters: [{ name: "color", meaning: "Only those." }],
    listen(query, send) {
      if (query.get("color") === "none") throw new RouterError("invalid_value", '"color" wants a color.');
      senders.add(send);
      return () => senders.delete(send);
    },
    ...overrides,
  };
  const observers = [{ name: "things", type: "things", plugin: { finished() {}, streams: [stream] } }];
  const made = await makeApi({ observers });
  const open = (query = "", init: RequestInit = {}) => made.api(new Request(`${URL}${query}`, init), "");
  const tell = (text: string) => {
    for (const send of senders) send(() => text);
  };
  return { ...made, senders, open, tell };
}

/** Reads until `isEnough`, then gives the reader back. */
async function textUntil(body: ReadableStream<Uint8Array> | null, isEnough: (text: string) => boolean): Promise<string> {
  const reader = body!.getReader();
  let text = "";
  while (!isEnough(text)) {
    const part = await reader.read();
    if (part.done) break;
    text += new TextDecoder().decode(part.value);
  }
  reader.releaseLock();
  return text;
}

describe("a stream of an observer", () => {
  it("has whoever listens hear what is told, until they leave", async () => {
    const { open, tell, senders } = await makeStream();
    const response = await open("?color=red");
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    tell("one");
    assert.match(await textUntil(response.body, (text) => text.includes("one")), /data: one\n\n$/);
    await response.body?.cancel();
    assert.equal(senders.size, 0);
  });

  it("ends with its request, and with the router", async () => {
    const { open, senders, streams, ask } = await makeStream();
    const aborting = new AbortController();
    await open("", { signal: aborting.signal });
    const other = await open();
    assert.equal(senders.size, 2);
    aborting.abort();
    assert.equal(senders.size, 1);
    streams.close();
    assert.equal(senders.size, 0);
    await textUntil(other.body, () => false);
    assert.equal((await ask("GET", "/things/stream")).json["code"], "stopping");
  });

  it("goes on over a reload, and ends when the config does not have it any more", async () => {
    const { open, router, clock, senders } = await makeStream();
    const response = await open();
    const { observers } = router.config;
    const put = (next: typeof observers) => Object.assign(router.config, { observers: next });
    put(observers.map((observer) => ({ ...observer })));
    await clock.advance(15_000);
    assert.equal(senders.size, 1);
    put(observers.map((observer) => ({ ...observer, name: "other" })));
    await clock.advance(15_000);
    assert.equal(senders.size, 0);
    assert.match(await textUntil(response.body, () => false), /: still here/);
    assert.equal(clock.pending, 0, "no timer without listeners");
  });

  it("takes a bounded number of listeners, and one more when one has left", async () => {
    const { open, ask, senders } = await makeStream();
    const bodies = [];
    for (let i = 0; i < 16; i++) bodies.push((await open()).body);
    const refused = await ask("GET", "/things/stream");
    assert.deepEqual([refused.status, refused.json["code"], senders.size], [503, "too_many_listeners", 16]);
    await bodies[0]?.cancel();
    assert.equal((await open()).status, 200);
  });

  it("is not begun by HEAD", async () => {
    const { open, senders, clock } = await makeStream();
    const response = await open("", { method: "HEAD" });
    assert.deepEqual([response.status, response.body, senders.size, clock.pending], [200, null, 0, 0]);
  });

  it("is in the description of the API", async () => {
    const { ask } = await makeStream();
    const { paths } = (await ask("GET", "/openapi.json")).json as { paths: Record<string, { get: { operationId: string } }> };
    assert.equal(paths["/things/stream"]?.get.operationId, "listenThingsStream");
  });

  const refusals: readonly (readonly [
    name: string,
    method: string,
    path: string,
    status: number,
    code: string,
    detail: RegExp,
  ])[] = [
    ["a misspelt parameter", "GET", "/things/stream?colour=red", 400, "unknown_parameter", /only color\. Did you mean "color"\?/],
    ["a parameter given twice", "GET", "/things/stream?color=a&color=b", 400, "repeated_parameter", /"color" only once/],
    ["what the observer refuses", "GET", "/things/stream?color=none", 400, "invalid_value", /wants a color/],
    ["another method", "POST", "/things/stream", 405, "method_not_allowed", /GET, HEAD/],
    ["another path", "GET", "/things/streams", 404, "unknown_path", /no such path/],
  ];
  for (const [name, method, path, status, code, detail] of refusals) {
    it(`refuses ${name}`, async () => {
      const { ask, senders } = await makeStream();
      const { status: seen, json } = await ask(method, path);
      assert.deepEqual([seen, json["code"], senders.size], [status, code, 0]);
      assert.match(String(json["detail"]), detail);
    });
  }
});

describe("an observer that fails", () => {
  it("to begin: 500, and the place is free again", async () => {
    const broken = () => {
      throw new Error("PRIVATE");
    };
    const { ask, clock } = await makeStream({ listen: broken });
    for (let i = 0; i < 20; i++) {
      const { status, json } = await ask("GET", "/things/stream");
      assert.equal(status, 500);
      assert.doesNotMatch(JSON.stringify(json), /PRIVATE/);
    }
    assert.equal(clock.pending, 0);
  });

  it("to begin, with what can't be turned into text: 500 too, and not a request that waits for ever", async () => {
    const broken = () => {
      throw Object.create(null);
    };
    const { ask } = await makeStream({ listen: broken });
    assert.equal((await ask("GET", "/things/stream")).status, 500);
  });

  it("to end: it is logged, and the others end", async () => {
    const broken = () => {
      throw new Error("stuck");
    };
    const { open, streams, logged } = await makeStream({ listen: () => broken });
    const bodies = [(await open()).body, (await open()).body];
    streams.close();
    await settle();
    for (const body of bodies) await textUntil(body, () => false);
    assert.equal(logged.filter(({ message }) => message === "An observer failed to end a stream").length, 2);
  });
});

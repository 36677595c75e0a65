import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import { type Definition, defineObserver } from "../../core/contract/plugin.ts";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { loadTestConfig, startTestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatBody, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

type Config = Pick<TestRouterOptions, "spec" | "documents">;

/** An observer that notes its making, each request that ends, and its end; `keeps` counts all requests over all configs. */
function noting(events: string[]): Definition {
  return defineObserver({
    type: "noting",
    summary: "Notes what becomes of it.",
    options: z.strictObject({ tag: z.string(), version: z.int().default(1), fails: z.boolean().default(false) }),
    create({ tag, version, fails }, host) {
      const total = host.keep(version, () => ({ count: 0 }));
      if (fails) throw new Error("there is no disk");
      return {
        finished() {
          total.count += 1;
          events.push(`${tag} finished ${total.count}${host.signal.aborted ? " too late" : ""}`);
        },
        dispose: () => void events.push(`${tag} disposed`),
      };
    },
  }) as Definition;
}

const plugin = (tag: string, more = "") =>
  `  plugins: [ { type: noting, parameters: { tag: ${tag}${more} } }, { type: access-log } ]\n`;

/** A router over scripted replicas whose config the test replaces. */
async function setUp(scripts: readonly Script[], first: Config = { spec: plugin("one") }) {
  const replicas = await Promise.all(scripts.map((script) => startScriptedReplica(script)));
  const events: string[] = [];
  const plugins = [noting(events)];
  const urls = replicas.map(({ url }) => url);
  const router = await startTestRouter(urls, { ...first, plugins });
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const replace = async (config: Config, at: readonly string[] = urls) => {
    const next = await loadTestConfig(at, { ...config, plugins });
    router.router.replace(next);
    router.server.useLimits(next.config.settings.limits);
  };
  return { replicas, events, router, replace, urls };
}

/** Streams that the test writes and ends. */
function heldStreams() {
  const open: { write(text: string): void; end(): void }[] = [];
  const script: Script = (_request, socket) => {
    socket.write(STREAM_HEAD + chunkOf(event(0)));
    open.push({ write: (text) => void socket.write(chunkOf(text)), end: () => void socket.write(LAST_CHUNK) });
  };
  return { open, script };
}

describe("requests under way", () => {
  it("end with the plugins that they began with, which are disposed after the last of them", { timeout: 30_000 }, async () => {
    const { open, script } = heldStreams();
    const { router, events, replace } = await setUp([script]);
    const clients = [];
    for (const n of [1, 2]) {
      const client = await openClient(router.port);
      client.send(chatPost(STREAM));
      await client.until((text) => text.includes(event(0)));
      clients.push(client);
      if (n === 1) await replace({ spec: plugin("two") });
    }
    await replace({ spec: plugin("three") });
    assert.deepEqual([router.router.olderConfigs, events], [2, []]);
    for (const { write, end } of open) {
      write(event(1));
      end();
    }
    for (const client of clients) {
      const received = await client.until((text) => text.endsWith(LAST_CHUNK));
      assert.ok(received.includes(event(1)));
      client.destroy();
    }
    await waitUntil(() => router.router.olderConfigs === 0);
    assert.deepEqual(
      events.filter((text) => text.startsWith("one")).map((text) => text.replace(/\d/, "n")),
      ["one finished n", "one disposed"],
    );
    assert.deepEqual(
      events.filter((text) => text.startsWith("two")).map((text) => text.replace(/\d/, "n")),
      ["two finished n", "two disposed"],
    );
    assert.ok(!events.some((text) => text.startsWith("three")));
    await assertIdle(router);
  });

  it("whose head came before keep their config, though their body and their replica come after", {
    timeout: 30_000,
  }, async () => {
    const { router, events, replace } = await setUp([answerOk], { spec: plugin("one") });
    const client = await openClient(router.port);
    const request = chatPost();
    client.send(request.slice(0, -1));
    await waitUntil(() => router.router.gate.memory.bodyBytes > 0);
    await replace({ spec: `${plugin("two")}  responseHeaders: false\n` });
    client.send(request.slice(-1));
    assert.match(await client.until((text) => text.endsWith("}")), /x-signalbox-endpoint/);
    client.send(chatPost());
    const both = await client.until((text) => text.split("HTTP/1.1 200").length === 3 && text.endsWith("}"));
    assert.equal(both.split("x-signalbox-endpoint").length, 2, "the next one on the same connection has the next config");
    client.destroy();
    assert.deepEqual(events, ["one finished 1", "one disposed", "two finished 2"]);
  });

  it("at a replica that leaves the list end whole, and its connections close", { timeout: 30_000 }, async () => {
    const { open, script } = heldStreams();
    const { router, replicas, replace } = await setUp([script, answerOk], {
      spec: `  profiles: [ { name: default, plugins: [ { pluginRef: round-robin } ] } ]\n${plugin("one")}`,
    });
    const [leaving, staying] = [replicas[0]!, replicas[1]!];
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    while (open.length === 0) await exchange(router.port, chatPost());
    await replace({ spec: plugin("two") }, [staying.url]);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ url }) => url.port),
      [staying.port],
    );
    for (let n = 0; n < 3; n++) assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
    assert.equal(open.length, 1, "it gets no more");
    open[0]!.write(event(1));
    open[0]!.end();
    assert.ok((await client.until((text) => text.endsWith(LAST_CHUNK))).includes(event(1)));
    client.destroy();
    await waitUntil(() => leaving.sockets.size === 0);
    await assertIdle(router);
  });
});

describe("what the router knows", () => {
  const spec = (tag: string) => `  profiles: [ { name: default, plugins: [ { pluginRef: prefix-cache } ] } ]\n${plugin(tag)}`;
  const LONG = chatBody().replace("hello", "once upon a time ".repeat(300));
  const long = () =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${LONG.length}\r\n\r\n${LONG}`;

  it("of its pool survives: connections, health, caches, counts; nobody is probed for it", { timeout: 30_000 }, async () => {
    const { router, replicas, events, replace } = await setUp([answerOk], { spec: spec("one") });
    for (let n = 0; n < 3; n++) await exchange(router.port, long());
    await assertIdle(router);
    const { router: own } = router;
    const [before] = own.pool.facts.endpoints;
    const prefixIndex = own.pool.prefixStats;
    const connections = own.pool.connections.openTo(before!);
    assert.ok(connections > 0 && prefixIndex!.entries > 0);
    await replace({ spec: spec("two") });
    assert.deepEqual(own.pool.facts.endpoints, [before]);
    assert.deepEqual(own.pool.prefixStats, prefixIndex);
    assert.equal(own.pool.connections.openTo(before!), connections);
    await exchange(router.port, long());
    assert.equal(own.pool.connections.openTo(before!), connections);
    assert.deepEqual(events, ["one finished 1", "one finished 2", "one finished 3", "one disposed", "two finished 4"]);
    assert.deepEqual(
      replicas[0]!.requests.map(({ indexOnConnection }) => indexOnConnection),
      [0, 1, 2, 3],
    );
  });

  it("of its requests survives: the same pages go on", { timeout: 30_000 }, async () => {
    const { router, replace } = await setUp([answerOk]);
    const page = (path: string) =>
      router.router.config.observers.flatMap(({ plugin: { pages = [] } }) => pages).find((each) => each.path === path)!;
    await exchange(router.port, chatPost());
    await waitUntil(() => router.log.length === 1);
    const decisions = page("/decisions");
    const show = (one: typeof decisions) =>
      (JSON.parse(one.render({} as never, new URLSearchParams())) as { decisions: { id: string }[] }).decisions.map(
        ({ id }) => id,
      );
    const [id] = show(decisions);
    await replace({ spec: plugin("two") });
    assert.notEqual(page("/decisions"), decisions);
    assert.deepEqual(show(page("/decisions")), [id]);
    await exchange(router.port, chatPost());
    await waitUntil(() => router.log.length === 2);
    assert.deepEqual(show(page("/decisions")).slice(1), [id]);
  });
});

describe("a config that can't be built", () => {
  const refused: readonly (readonly [name: string, config: Config, message: RegExp])[] = [
    [
      "whose plugin can't be made",
      { spec: plugin("two", ", fails: true") },
      /^test\.yaml:6:14 {2}The plugin "noting" can't be made: there is no disk$/,
    ],
    [
      "whose plugins ask for different indexes",
      {
        spec: "  plugins: [ { type: prefix-cache, name: a, parameters: { blockBytes: 64 } }, { type: prefix-cache, name: b, parameters: { blockBytes: 128 } } ]\n",
      },
      /different blockBytes/,
    ],
  ];
  for (const [name, config, message] of refused) {
    it(`${name} changes nothing`, { timeout: 30_000 }, async () => {
      const { router, events, replace } = await setUp([answerOk]);
      await exchange(router.port, chatPost());
      await waitUntil(() => events.length === 1);
      const { config: before, pool } = router.router;
      const { facts } = pool;
      await assert.rejects(replace(config), { message });
      assert.equal(router.router.config, before);
      assert.equal(router.router.pool.facts, facts);
      await exchange(router.port, chatPost());
      await waitUntil(() => events.length === 2);
      assert.deepEqual(events, ["one finished 1", "one finished 2"]);
    });
  }

  it("leaves the state that plugins keep to the config that runs", { timeout: 30_000 }, async () => {
    const { router, events, replace } = await setUp([answerOk]);
    await exchange(router.port, chatPost());
    await assert.rejects(replace({ spec: plugin("two", ", version: 2, fails: true") }));
    await replace({ spec: plugin("three") });
    await exchange(router.port, chatPost());
    await waitUntil(() => events.length === 3);
    assert.deepEqual(events, ["one finished 1", "one disposed", "three finished 2"]);
  });
});

describe("limits of the next config", () => {
  it("hold from the next request, also on a connection that is open", { timeout: 30_000 }, async () => {
    const { router, replace } = await setUp([answerOk]);
    const client = await openClient(router.port);
    client.send(chatPost());
    await client.until((text) => text.endsWith("}"));
    await replace({ spec: `${plugin("two")}  limits: { bodyBytes: 10 }\n` });
    client.send(chatPost());
    await client.until((text) => text.includes("HTTP/1.1 413"));
    client.destroy();
  });

  it("hold for the number of connections, whoever is connected", { timeout: 30_000 }, async () => {
    const { router, replace } = await setUp([answerOk]);
    const [first, second] = [await openClient(router.port), await openClient(router.port)];
    await waitUntil(() => router.server.connections === 2);
    await replace({ spec: `${plugin("two")}  limits: { clientConnections: 2 }\n` });
    const waiting = await openClient(router.port);
    waiting.send(chatPost());
    first.send(chatPost());
    await first.until((text) => text.endsWith("}"));
    assert.equal(waiting.received, "", "it has no place yet");
    second.destroy();
    await waiting.until((text) => text.endsWith("}"));
    waiting.destroy();
    await waitUntil(() => router.server.connections === 1);
    await replace({ spec: `${plugin("three")}  limits: { perClientConnections: 1 }\n` });
    const third = await openClient(router.port);
    third.send(chatPost());
    await third.until((text) => text.endsWith("}"));
    assert.equal(await exchange(router.port, chatPost()), "", "those from before do not count, and that one does");
    for (const client of [first, third]) client.destroy();
    await waitUntil(() => router.server.connections === 0);
    assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
  });
});

/** What replicas publish of their caches, and what becomes of it. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { silentLog } from "../../core/contract/log.ts";
import type { KvEventsStatus } from "../../plugins/features/kv-events/kv-events-status.ts";
import { EventEngine } from "../support/event-engine.ts";
import { type AccessLine, loadTestConfig, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const SPEC = "  kvEvents: {}\n";
const LONG = 2_560;
const prompt = (name: string, length = LONG) => `${name} `.repeat(length).slice(0, length);

describe("events of replicas' caches", () => {
  let engines: readonly EventEngine[] = [];
  let router: TestRouter;
  /** What operators are warned of. */
  let log: { readonly message: string }[] = [];

  afterEach(async () => {
    await router?.close();
    await Promise.all(engines.map((engine) => engine.close()));
  });

  async function start(count = 2, spec = SPEC, prepare: (engine: EventEngine) => void = () => {}): Promise<void> {
    engines = await Promise.all(Array.from({ length: count }, () => EventEngine.start()));
    for (const engine of engines) prepare(engine);
    log = [];
    router = await startTestRouter(
      engines.map(({ url }) => url),
      { spec, operatorLog: { ...silentLog, warn: (message) => void log.push({ message }) } },
    );
  }

  async function ask(body: object, path = "/v1/completions"): Promise<AccessLine> {
    const lines = router.log.length;
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", ...body }),
    };
    const response = await fetch(`${router.url}${path}`, init);
    assert.equal(response.status, 200, await response.text());
    await waitUntil(() => router.log.length > lines);
    return router.log[lines]!;
  }

  const status = () => (router.router.features.status() as { readonly kvEvents: KvEventsStatus }).kvEvents;
  const replica = (engine: EventEngine) =>
    status().replicas.find(({ endpoint }) => endpoint.endsWith(String(engine.replica.port)))!;
  const servedBy = ({ endpoint }: AccessLine) => engines.find((engine) => endpoint.endsWith(String(engine.replica.port)))!;
  const followed = () => waitUntil(() => status().replicas.every(({ standing }) => standing === "believed"));
  const learned = (count: number) => waitUntil(() => status().prompts.learned === count);
  const other = (engine: EventEngine) => engines.find((one) => one !== engine)!;
  const heard = (engine: EventEngine, batches: number) => waitUntil(() => replica(engine).batches >= batches);

  it("send a prompt to the replica that has it now, not to the one that had it", async () => {
    await start();
    await followed();
    const first = servedBy(await ask({ prompt: prompt("one") }));
    await learned(1);
    await heard(first, 1);
    const second = other(first);
    first.evict(prompt("one"));
    second.store(prompt("one"));
    await heard(first, 2);
    await heard(second, 1);
    const again = await ask({ prompt: prompt("one", LONG + 400) });
    assert.equal(servedBy(again), second);
    assert.equal((again as unknown as { readonly predictedCachedTokens: number }).predictedCachedTokens >= 600, true);
  });

  it("do so for requests that have their tokens, without asking for them", async () => {
    await start(2, "  kvEvents: { renderPrompts: false }\n");
    await followed();
    const tokens = Array.from({ length: 800 }, (_, i) => 1_000 + i);
    const generate = (token_ids: readonly number[]) =>
      ask({ token_ids, sampling_params: { max_tokens: 1 } }, "/inference/v1/generate");
    const first = servedBy(await generate(tokens));
    await learned(1);
    await heard(first, 1);
    first.clear();
    await heard(first, 2);
    await ask({ prompt: prompt("other") });
    assert.equal(status().prompts.learned, 1);
    const predicted = (line: AccessLine) => (line as unknown as { readonly predictedCachedTokens: number }).predictedCachedTokens;
    assert.equal(predicted(await generate(tokens)), 0);
    await waitUntil(() => engines.some((engine) => replica(engine).batches > 0));
    assert.ok(predicted(await generate(tokens)) >= 700);
  });

  it("lose their voice where responses report otherwise, and get it back by the same rule", async () => {
    await start(1);
    await followed();
    const [engine] = engines;
    for (let i = 0; i < 3; i++) await ask({ prompt: prompt("one") });
    await learned(1);
    await waitUntil(() => replica(engine!).promises.right > 0);
    engine!.lie = 0;
    for (let i = 0; i < 5; i++) await ask({ prompt: prompt("one") });
    // An event that explains it could still come.
    await waitUntil(() => replica(engine!).promises.tooMuch === 5);
    assert.equal(replica(engine!).standing, "not-believed");
    assert.equal(replica(engine!).why, "responses report less than it promised");
    assert.deepEqual(
      log.map(({ message }) => message),
      ["What a replica publishes of its cache is not believed any more: its responses report otherwise"],
    );
    engine!.lie = undefined;
    for (let i = 0; i < 14; i++) await ask({ prompt: prompt("one") });
    assert.equal(replica(engine!).standing, "believed");
    assert.equal(replica(engine!).losses, 1);
  });

  it("keep it where later events say that what they promised was evicted before the request began", async () => {
    await start(1);
    await followed();
    const [engine] = engines;
    for (let i = 0; i < 3; i++) await ask({ prompt: prompt("one") });
    await learned(1);
    await waitUntil(() => replica(engine!).promises.right > 0);
    const { right } = replica(engine!).promises;
    engine!.begins = () => engine!.evict(prompt("one"), 3);
    for (let i = 0; i < 8; i++) await ask({ prompt: prompt("one") });
    await waitUntil(() => replica(engine!).promises.evicted === 8);
    const { standing, promises, losses } = replica(engine!);
    assert.deepEqual([standing, promises.tooMuch, promises.right, losses], ["believed", 0, right, 0]);
    // So much of the prompt was there all the time: reporting less is not explained by the evictions.
    engine!.lie = 0;
    engine!.begins = () => engine!.evict(prompt("one"), 20);
    for (let i = 0; i < 5; i++) await ask({ prompt: prompt("one") });
    await waitUntil(() => replica(engine!).promises.tooMuch === 5);
    assert.deepEqual([replica(engine!).standing, replica(engine!).promises.evicted, log.length], ["not-believed", 8, 1]);
  });

  it("lose their voice where nothing is told of what is stored", async () => {
    await start(1);
    await followed();
    const [engine] = engines;
    engine!.isMute = true;
    for (let i = 0; i < 5; i++) await ask({ prompt: prompt(`new ${i}`) });
    await waitUntil(() => replica(engine!).standing === "not-believed");
    assert.equal(replica(engine!).why, "it tells nothing of what it stores");
  });

  it("make the router's own index forget what a cleared or restarted engine held", async () => {
    await start(1);
    await followed();
    const [engine] = engines;
    const held = () => router.router.pool.prefixStats?.slots[0]?.tokens ?? 0;
    await ask({ prompt: prompt("one") });
    await heard(engine!, 1);
    assert.ok(held() > 0);
    engine!.clear();
    await waitUntil(() => held() === 0);
    await ask({ prompt: prompt("two") });
    await heard(engine!, 3);
    engine!.restart();
    engine!.store(prompt("three"));
    await waitUntil(() => replica(engine!).restarts === 1 && replica(engine!).standing === "believed");
    assert.equal(held(), 0);
  });

  it("are only compared where the config says so", async () => {
    await start(1, "  kvEvents: { believe: false }\n");
    await followed();
    const [engine] = engines;
    await ask({ prompt: prompt("one") });
    await learned(1);
    engine!.evict(prompt("one"));
    await heard(engine!, 2);
    const again = (await ask({ prompt: prompt("one") })) as unknown as { readonly predictedCachedTokens: number };
    assert.ok(again.predictedCachedTokens > 500);
    await waitUntil(() => replica(engine!).promises.right === 1);
  });

  it("are looked for where the config says, and the status says what is missing", async () => {
    await start(1, SPEC, (engine) => {
      engine.isOld = true;
    });
    await waitUntil(() => status().replicas[0]?.why !== "it is asked where its events are");
    assert.match(status().replicas[0]!.why, /publishes no events: start its engine with --kv-events-config/);
    const [engine] = engines;
    const { port, replayPort } = engine!.publisher;
    const spec = `  kvEvents: { port: ${port}, replayPort: ${replayPort} }\n`;
    router.router.replace(await loadTestConfig([engine!.url], { spec }));
    await followed();
    router.router.replace(await loadTestConfig([engine!.url]));
    assert.equal(status(), null);
    await waitUntil(() => engine!.publisher.subscribers === 0);
    const labelled = `  kvEvents: { label: events, replayLabel: replay }
  pool: { endpoints: [ { url: "${engine!.url}", labels: { events: "tcp://127.0.0.1:${port}", replay: "${replayPort}" } } ] }\n`;
    router.router.replace(await loadTestConfig([], { spec: labelled }));
    await followed();
  });
});

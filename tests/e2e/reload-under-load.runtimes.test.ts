import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { exchange, openClient, postBytes, type RawClient, readAnswer } from "../support/raw-client.ts";
import { configOver, rewriteTo, startReloadingRouter } from "../support/reloading.ts";
import { event } from "../support/scripted-pool.ts";
import {
  chunkOf,
  jsonAnswer,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../support/scripted-replica.ts";

/** How many reloads; the requirement's own number takes about a minute: `SIGNALBOX_RELOADS=1000 npm test -- node tests/e2e/reload-under-load.runtimes.test.ts`. */
const RELOADS = Number(process.env["SIGNALBOX_RELOADS"] ?? 20);
const CLIENTS = 12;
const STREAMS = 8;
const EVENTS = 40;
/** Growth of the process that no leak explains; it is looked at in long runs only, since a young process still grows. */
const MOST_GROWTH_BYTES = 48 * 2 ** 20;

const CHAT = "/v1/chat/completions";
const post = (more = "") => postBytes(CHAT, `{"model":"food","messages":[{"role":"user","content":"hello"}]${more}}`);

/** What the replica was asked for: the name that the router wrote into the body. */
const modelIn = (body: Buffer) => (JSON.parse(body.toString()) as { model: string }).model;
const isStream = (body: Buffer) => body.includes('"stream":true');

/** Responds with the name of the model that it was sent. Streams are written by `stream`. */
const echoing =
  (stream: (write: (text: string) => void, model: string) => void): Script =>
  ({ body }, socket) => {
    const model = modelIn(body);
    if (!isStream(body)) return void socket.write(jsonAnswer(`{"model":"${model}"}`));
    socket.write(STREAM_HEAD + chunkOf(`data: {"model":"${model}"}\n\n`));
    stream((text) => void socket.write(text), model);
  };

const replicas: ScriptedReplica[] = [];
async function startReplicas(count: number, script: Script): Promise<Record<string, string>> {
  const started = await Promise.all(Array.from({ length: count }, () => startScriptedReplica(script, ["v1", "v2"])));
  replicas.push(...started);
  return Object.fromEntries(started.map(({ url }, index) => [`gpu${index + 1}`, url]));
}
after(() => Promise.all(replicas.map((replica) => replica.close())));

/** The target that served, as the router's header and the replica's body name it. Throws where they differ. */
function targetOf(answer: string): string {
  const { status, head, json } = readAnswer(answer);
  const named = /\r\nx-signalbox-model: (.*)/i.exec(head)?.[1];
  assert.equal(status, 200, answer);
  assert.equal(named, json["model"]);
  return named ?? "";
}

type Targets = Readonly<Record<string, number | undefined>>;

const PHASES: readonly (readonly [targets: Targets, counts: Readonly<Record<string, number>>])[] = [
  [{ v1: undefined }, { v1: 20 }],
  [
    { v1: 90, v2: 10 },
    { v1: 18, v2: 2 },
  ],
  [
    { v1: 50, v2: 50 },
    { v1: 10, v2: 10 },
  ],
  [{ v2: 100 }, { v2: 20 }],
];

describe("a rollout in four phases, by files, under 200 open streams", () => {
  it("is exact over each phase's first 20 requests, loses no stream and mixes no names up", { timeout: 60_000 }, async () => {
    const ends: (() => void)[] = [];
    const hold = (write: (text: string) => void) => void ends.push(() => write(chunkOf(event(1)) + LAST_CHUNK));
    const urls = await startReplicas(2, echoing(hold));
    const rewrites = PHASES.map(([targets]) => rewriteTo(targets));
    const files = { "router.yaml": configOver(urls), "rewrite.yaml": rewrites[0]! };
    const router = await startReloadingRouter(files, { isFolder: true });
    const { port } = router.process;
    const streams: { readonly client: RawClient; readonly targets: Targets }[] = [];
    for (const [phase, [targets, counts]] of PHASES.entries()) {
      if (phase > 0) router.write("rewrite.yaml", rewrites[phase]!);
      await router.untilGeneration(phase + 1);
      const seen: Record<string, number> = {};
      for (let n = 0; n < 20; n++) {
        const target = targetOf(await exchange(port, post()));
        seen[target] = (seen[target] ?? 0) + 1;
      }
      assert.deepEqual(seen, counts);
      for (let n = 0; n < 50; n++) {
        const client = await openClient(port);
        client.send(post(',"stream":true'));
        streams.push({ client, targets });
      }
      await Promise.all(streams.map(({ client }) => client.until((text) => text.includes("data: "))));
    }

    assert.equal(ends.length, 200);
    for (const end of ends) end();
    for (const { client, targets } of streams) {
      const received = await client.until((text) => text.endsWith(LAST_CHUNK));
      assert.ok(received.endsWith(LAST_CHUNK) && received.includes(event(1)));
      const named = /\r\nx-signalbox-model: (.*?)\r\n/i.exec(received)?.[1] ?? "";
      assert.ok(received.includes(`data: {"model":"${named}"}`));
      assert.ok(named in targets, `${named} is none of ${Object.keys(targets).join(", ")}`);
      client.destroy();
    }
  });
});

describe(`${RELOADS} reloads under load`, () => {
  it("fail no request, cut no stream, and leave nothing behind", { timeout: 60_000 + RELOADS * 500 }, async () => {
    /** A stream of some tenths of a second. */
    const script = echoing((write) => {
      let n = 0;
      const timer = setInterval(() => {
        write(chunkOf(event(n)));
        n += 1;
        if (n < EVENTS) return;
        clearInterval(timer);
        write(LAST_CHUNK);
      }, 10);
    });
    const { gpu1 = "", gpu2 = "", gpu3 = "" } = await startReplicas(3, script);
    const all = { gpu1, gpu2, gpu3 };
    const rewrites = (v1: number, v2: number) => `---\n${rewriteTo({ v1, v2 })}`;
    /** Each changes something else: weights, replicas, the profile, the index, limits, probes and ejection. */
    const configs = [
      configOver(all) + rewrites(90, 10),
      configOver({ gpu1, gpu2 }) + rewrites(50, 50),
      configOver(all, "  profiles: [ { name: other, plugins: [ { pluginRef: round-robin } ] } ]\n") + rewrites(50, 50),
      configOver(all, "  plugins: [ { type: prefix-cache, parameters: { blockBytes: 128 } } ]\n  ejection: false\n") +
        rewrites(1, 99),
      configOver(
        { gpu2, gpu3 },
        "  limits: { connectTimeoutMs: 500, bodyTimeoutMs: 100 }\n  keepAlive: { paths: [ /v1/chat/completions ] }\n",
      ) + rewrites(90, 10),
    ];
    const router = await startReloadingRouter({ "signalbox.yaml": configs[0]! });
    const { port } = router.process;
    const failures: string[] = [];
    let requests = 0;
    let streams = 0;
    let isOver = false;
    const until = async (run: () => Promise<void>) => {
      while (!isOver) await run().catch((thrown) => failures.push(String(thrown)));
    };
    const askOnce = async () => {
      targetOf(await exchange(port, post()));
      requests += 1;
    };
    const streamOnce = async () => {
      const client = await openClient(port);
      client.send(post(',"stream":true'));
      const received = await client.until((text) => text.endsWith(LAST_CHUNK));
      client.destroy();
      streams += 1;
      for (let n = 0; n < EVENTS; n++)
        assert.ok(received.includes(event(n)), `a stream without its event ${n}: ${received.slice(0, 500)}`);
    };
    const load = [
      ...Array.from({ length: CLIENTS }, () => until(askOnce)),
      ...Array.from({ length: STREAMS }, () => until(streamOnce)),
    ];
    const resident: number[] = [];
    for (let n = 1; n <= RELOADS; n++) {
      router.write("signalbox.yaml", configs[n % configs.length]!);
      router.process.kill("SIGHUP");
      const { config } = await router.untilReload(
        ({ generation, lastReload }) => generation > n || lastReload?.isApplied === false,
      );
      assert.deepEqual(config.lastReload?.problems, []);
      if (n % Math.ceil(RELOADS / 10) === 0) resident.push(router.process.residentBytes);
    }
    isOver = true;
    await Promise.all(load);
    assert.deepEqual(failures, []);
    assert.ok(requests >= RELOADS && streams >= STREAMS, `${requests} requests and ${streams} streams`);
    const { config, endpoints } = await router.status();
    assert.equal(config.generation, RELOADS + 1);
    assert.equal(
      endpoints.reduce((sum, { inFlight }) => sum + inFlight, 0),
      0,
    );
    // A collector may be late, so the troughs of both halves say what is held.
    const half = resident.length >> 1;
    const growth = Math.min(...resident.slice(half)) - Math.min(...resident.slice(0, half));
    if (RELOADS >= 500) {
      console.log(
        `${requests} requests, ${streams} streams; resident MB: ${resident.map((bytes) => Math.round(bytes / 2 ** 20)).join(" ")}`,
      );
      assert.ok(growth < MOST_GROWTH_BYTES, `${growth} bytes more`);
    }
  });
});

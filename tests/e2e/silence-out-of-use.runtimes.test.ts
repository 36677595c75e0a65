/** Silence is judged at each replica that has a stream, whatever else is said of the replica. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openClient, type RawClient } from "../support/raw-client.ts";
import { readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { toldDiscovery } from "../support/told-discovery.ts";

const SECOND_MS = 1_000;
/** What its failed state explains is half of what a replica gets that an operator has taken out of use. */
const ILL_S = 28;
const WELL_S = 40;
const ROUND_ROBIN = "  plugins: [ { type: told } ]\n  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n";
const FAILS = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";

interface Pool {
  readonly router: TestRouter;
  readonly tell: (specs: readonly EndpointSpec[]) => void;
  readonly specs: readonly EndpointSpec[];
  readonly silent: ScriptedReplica;
  readonly pass: (seconds: number) => Promise<void>;
  /** Its streams get an event, and a second goes by. */
  readonly flow: (seconds: number) => Promise<void>;
  readonly streams: readonly RawClient[];
  /** What it answers to requests from now on. */
  failFromNowOn(): void;
}

/** Two streams flow at the first of two replicas; nobody has had a whole answer of either. */
async function setUp(): Promise<Pool> {
  const clock = new FakeClock();
  const sockets: Socket[] = [];
  let isFailing = false;
  const silent = await startScriptedReplica((_request, socket) => {
    if (isFailing) return void socket.write(FAILS);
    sockets.push(socket);
    socket.write(STREAM_HEAD + chunkOf(event(0)));
  });
  const other = await startScriptedReplica((_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(0)) + LAST_CHUNK));
  const specs = [silent, other].map(({ url }, index) => ({ name: `r${index}`, url, labels: {} }));
  const discovery = toldDiscovery();
  const router = await startTestRouter([], { spec: ROUND_ROBIN, plugins: [discovery.definition], clock });
  after(async () => {
    await router.close();
    await Promise.all([silent, other].map((replica) => replica.close()));
  });
  discovery.tellSpecs(specs);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(SECOND_MS);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  for (let second = 0; second < 10 && readyCount(router.router) < 2; second++) await pass(1);
  await waitUntil(() => readyCount(router.router) === 2);
  const streams: RawClient[] = [];
  while (streams.length < 2) {
    const before = sockets.length;
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    await client.until((text) => text.includes(event(0)));
    if (sockets.length > before) streams.push(client);
    else client.destroy();
  }
  let sent = 0;
  const flow = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      sent += 1;
      for (const socket of sockets) socket.write(chunkOf(event(sent)));
      for (const stream of streams) await stream.until((text) => text.includes(event(sent)));
      await pass(1);
    }
  };
  return {
    router,
    tell: discovery.tellSpecs,
    specs,
    silent,
    pass,
    flow,
    streams,
    failFromNowOn: () => {
      isFailing = true;
    },
  };
}

async function eject({ router, failFromNowOn }: Pool): Promise<void> {
  failFromNowOn();
  for (let n = 0; n < 20 && router.router.pool.facts.endpoints[0]!.phase !== "ejected"; n++) {
    const client = await openClient(router.port);
    client.send(chatPost(STREAM));
    await client.until((text) => text.includes("\r\n\r\n"));
    client.destroy();
  }
  assert.equal(router.router.pool.facts.endpoints[0]!.phase, "ejected");
}

const want =
  (intent: "cordon" | "drain") =>
  ({ router }: Pool): void =>
    router.router.control.intents.set("r0", { intent, reason: "", by: "a test", forMs: undefined, graceMs: 0 });
const report =
  (reported: "not-ready" | "leaving") =>
  ({ tell, specs }: Pool): void =>
    tell([{ ...specs[0]!, reported }, specs[1]!]);

const cases: readonly (readonly [name: string, withinS: number, happens: (pool: Pool) => void | Promise<void>])[] = [
  ["is ejected for its errors", ILL_S, eject],
  ["was cordoned", WELL_S, want("cordon")],
  ["drains", WELL_S, want("drain")],
  ["is leaving, says its discovery", WELL_S, report("leaving")],
  ["is not ready, says its discovery", ILL_S, report("not-ready")],
  [
    "fails its probes",
    ILL_S,
    ({ silent }) => {
      silent.failsProbes = true;
    },
  ],
  [
    "is leaving, and fails its probes",
    ILL_S,
    (pool) => {
      pool.silent.failsProbes = true;
      report("leaving")(pool);
    },
  ],
  ["was removed", ILL_S, ({ tell, specs }) => tell([specs[1]!])],
  ["has another address now", ILL_S, ({ tell, specs }) => tell([{ ...specs[0]!, url: specs[1]!.url }, specs[1]!])],
];

describe("streams that fall silent, where no other request goes to their replica", () => {
  for (const [name, withinS, happens] of cases) {
    it(`end within ${withinS} s at one that ${name}, and not while they flow`, { timeout: 60_000 }, async () => {
      const pool = await setUp();
      await pool.flow(4);
      await happens(pool);
      await pool.flow(20);
      for (const stream of pool.streams) assert.ok(!stream.isClosed && !stream.received.includes('"error"'));
      await pool.pass(withinS);
      for (const stream of pool.streams) {
        await stream.closed();
        assert.match(stream.received, /data: \{"error":.*"upstream_(timeout|reset)"/);
      }
      await assertIdle(pool.router);
    });
  }
});

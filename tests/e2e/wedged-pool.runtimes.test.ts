/** All replicas hang, or one that recovers: how long requests wait, and when a trial is sent. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, openClient, type RawClient } from "../support/raw-client.ts";
import { answerOk, assertIdle, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { setUpUsual } from "../support/usual-pool.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const ROUND_ROBIN = "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n";
const TEXT = chunkOf('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
const answers: Script = (_request, socket) => void socket.write(STREAM_HEAD + TEXT + chunkOf(event(1)) + LAST_CHUNK);
/** A try that waits alone gets half a minute, the longest of all, until a sweep finds it; a request has two tries at most. */
const LONGEST_TRY_MS = 40_000;
const LONGEST_S = 80;
/** Longer than any ejection, so that trials come and go. */
const INCIDENT_S = 90;

interface Asked {
  readonly atMs: number;
  readonly client: RawClient;
  endedMs: number;
}

describe("where all replicas hang, every try is bounded by the same rule", () => {
  const rows: readonly (readonly [name: string, known: number, isStream: (second: number) => boolean])[] = [
    ["and all responses come whole", 60, () => false],
    ["and every third one is a stream", 60, (second) => second % 3 === 0],
    ["and every third one is a stream, of a pool that never sent a whole response", 0, (second) => second % 3 === 0],
    ["and all responses come whole but the first", 60, (second) => second === 0],
  ];
  for (const [name, known, isStream] of rows)
    it(name, { timeout: 60_000 }, async () => {
      let isWedged = false;
      const script: Script = (request, socket) => void (isWedged || answerOk(request, socket));
      const { router, pass, clock, received } = await setUpUsual([script, script, script, script]);
      for (let n = 0; n < known; n++) await exchange(router.port, chatPost());
      isWedged = true;
      const all: Asked[] = [];
      for (let second = 0; second < INCIDENT_S + LONGEST_S; second++) {
        if (second < INCIDENT_S) {
          const client = await openClient(router.port);
          client.send(chatPost(isStream(second) ? STREAM : ""));
          all.push({ atMs: clock.now(), client, endedMs: Number.POSITIVE_INFINITY });
        }
        await pass(1);
        for (const each of all) if (each.client.received !== "") each.endedMs = Math.min(each.endedMs, clock.now());
      }
      const unanswered = all.filter(({ endedMs }) => endedMs === Number.POSITIVE_INFINITY);
      assert.equal(unanswered.length, 0);
      const wedged = router.log.flatMap(({ attempts }) => attempts).filter(({ result }) => result === "wedged");
      assert.ok(wedged.length >= all.length);
      assert.deepEqual(
        wedged.filter(({ startedMs, endedMs }) => !(endedMs - startedMs <= LONGEST_TRY_MS)),
        [],
      );
      // Each replica was ejected or tried again meanwhile, and was asked.
      assert.ok(
        received().every((count) => count > 4),
        String(received()),
      );
      assert.deepEqual(new Set(all.map(({ client }) => wholeAnswer(client.received).status)), new Set([504]));
      for (const { client } of all) client.destroy();
      await assertIdle(router);
    });
});

/** Also an error, as those get for whom no more requests may be tried again. */
const isWhole = ({ received }: RawClient) => received !== "" && wholeAnswer(received).isComplete;

/** As many turns of the event loop as a request and its response need. On a busy machine the clock of a test runs ahead of them else. */
async function passBytes(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

describe("a replica that hangs, and is tried again", () => {
  /** One client each second. */
  async function setUpHung() {
    let isHung = false;
    const first: Script = (request, socket) => void (isHung || answers(request, socket));
    const pool = await setUpUsual([first, answers], ROUND_ROBIN);
    const all: Asked[] = [];
    return {
      ...pool,
      all,
      hangs: (whether: boolean) => {
        isHung = whether;
      },
      phase: () => pool.router.router.pool.facts.endpoints[0]!.phase,
      /** Until something is so; returns the seconds that it took. */
      askUntil: async (isSo: () => boolean, most = 600) => {
        for (let second = 0; second < most; second++) {
          if (isSo()) return second;
          const client = await openClient(pool.router.port);
          client.send(chatPost(STREAM));
          all.push({ atMs: pool.clock.now(), client, endedMs: Number.POSITIVE_INFINITY });
          await passBytes();
          await pool.pass(1);
          for (const each of all)
            if (each.endedMs === Number.POSITIVE_INFINITY && isWhole(each.client)) each.endedMs = pool.clock.now();
        }
        return most;
      },
    };
  }

  it("not while its probes fail, and as soon as they pass", { timeout: 60_000 }, async () => {
    const { hangs, replicas, askUntil, phase, received, router, all } = await setUpHung();
    hangs(true);
    replicas[0]!.failsProbes = true;
    await askUntil(() => phase() === "not-ready");
    const before = received()[0]!;
    // Its time as an ejected one is over, over and over.
    await askUntil(() => false, 120);
    assert.deepEqual([received()[0], phase()], [before, "not-ready"]);
    hangs(false);
    replicas[0]!.failsProbes = false;
    await askUntil(() => phase() !== "not-ready");
    const seconds = await askUntil(() => received()[0]! > before);
    assert.ok(seconds <= 2, `tried ${seconds} s after its probe passed`);
    await askUntil(() => phase() === "ready", 5);
    assert.equal(phase(), "ready");
    for (const { client } of all) client.destroy();
    await assertIdle(router);
  });

  it("costs the client of a trial no more than a new request costs it, and another replica answers", {
    timeout: 60_000,
  }, async () => {
    const { hangs, askUntil, received, router, all, ejections } = await setUpHung();
    hangs(true);
    await askUntil(() => ejections() === 1);
    await askUntil(() => all.every(({ endedMs }) => endedMs < Number.POSITIVE_INFINITY));
    const waitedMs = ({ atMs, endedMs }: Asked) => endedMs - atMs;
    const longestMs = Math.max(...all.map(waitedMs));
    const [before, count] = [received()[0]!, all.length];
    await askUntil(() => received()[0]! >= before + 3);
    const requests = all.length;
    await askUntil(() => all.slice(0, requests).every(({ endedMs }) => endedMs < Number.POSITIVE_INFINITY));
    const later = all.slice(count, requests);
    const slow = later.filter((each) => waitedMs(each) > 2_000);
    assert.equal(slow.length, 3, "one request for each trial");
    for (const each of slow) assert.ok(waitedMs(each) <= longestMs + 1_000, `${waitedMs(each)} ms, ${longestMs} ms before`);
    for (const { client } of later) assert.equal(wholeAnswer(client.received).status, 200);
    for (const { client } of all) client.destroy();
    await assertIdle(router);
  });
});

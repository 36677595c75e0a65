/** Prompts that replicas die of: which are refused, which are not, and what people see of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, describe, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { exchange, openClient, postBytes, type RawClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { CHAT, OK, setUp } from "../support/scripted-pool.ts";
import { chunkOf, type Script, type ScriptedReplica, STREAM_HEAD } from "../support/scripted-replica.ts";
import { makeView } from "../support/view.ts";

const PROFILE = "  profiles: [ { name: default, plugins: [ { pluginRef: round-robin } ] } ]\n";
const REPLICAS = 6;

const bodyOf = (prompt: string, extra = "") =>
  JSON.stringify({ model: "m", messages: [{ role: "user", content: prompt }] }).replace(/}$/, `${extra}}`);

/** Ends its process: nobody listens any more. */
function die(replica: ScriptedReplica): void {
  void replica.refuse();
  for (const socket of replica.sockets) socket.destroy();
}

const opened: RawClient[] = [];

type OnDeadly = (replica: ScriptedReplica, socket: Parameters<Script>[1]) => void;

async function pool(spec = "", onDeadly: OnDeadly = die) {
  const log = collectedLog();
  const all: ScriptedReplica[] = [];
  const waiting = { isOn: true };
  /** What a replica does is in the prompt: it dies, closes the connection, takes long or answers. */
  const scripts = Array.from(
    { length: REPLICAS },
    (_, i): Script =>
      ({ body }, socket) => {
        const text = body.toString();
        if (text.includes("deadly")) onDeadly(all[i]!, socket);
        else if (text.includes("closes")) socket.resetAndDestroy();
        else if (!text.includes("slow") || !waiting.isOn) socket.write(OK);
      },
  );
  const { router, replicas } = await setUp(scripts, { spec: PROFILE + spec, operatorLog: log });
  all.push(...replicas);
  const ask = async (prompt: string, extra = "", lines = "") => {
    const { status, json, head } = readAnswer(await exchange(router.port, postBytes(CHAT, bodyOf(prompt, extra), lines)));
    return { status, code: (json["error"] as { code?: string } | undefined)?.code, head };
  };
  const got = (prompt: string) => replicas.flatMap(({ requests }) => requests.filter(({ body }) => body.includes(prompt))).length;
  /** Has so many requests with this prompt under way, in turn at all replicas that are up; returns what ends them. */
  const begin = async (prompt: string, count: number) => {
    const before = got(prompt);
    const clients = await Promise.all(Array.from({ length: count }, () => openClient(router.port)));
    for (const client of clients) client.send(postBytes(CHAT, bodyOf(prompt)));
    await waitUntil(() => got(prompt) === before + count);
    opened.push(...clients);
    return () => {
      for (const client of clients) client.destroy();
    };
  };
  /** Waits until so many requests have ended without a response, and the deaths are counted. */
  const lost = (count: number) => waitUntil(() => router.log.filter(({ status }) => status === 502).length === count);
  /** A probe has found that the replica is gone, which is a moment after its requests were lost. */
  const quarantined = () => waitUntil(() => warnings().length > 0);
  const warnings = () => router.router.features.warnings(makeView([]));
  return { quarantined, ask, begin, got, lost, log, waiting, warnings, requests: router.log };
}

after(() => {
  for (const client of opened) client.destroy();
});

describe("a prompt that two replicas have died of", () => {
  it("is refused for a while, whatever else its requests ask for, and nothing else is", { timeout: 30_000 }, async () => {
    const { quarantined, ask, got, requests, log, warnings } = await pool();
    for (let i = 0; i < 2; i++) assert.equal((await ask("deadly")).code, "upstream_reset");
    await quarantined();
    for (const extra of ["", ',"temperature":0.5', ',"stream":true', ',"max_tokens":1']) {
      const { status, code, head } = await ask("deadly", extra);
      assert.deepEqual([status, code], [422, "prompt_quarantined"]);
      assert.match(head, /^x-should-retry: false$/im);
    }
    assert.equal(got("deadly"), 2);
    assert.equal((await ask("harmless")).status, 200);
    assert.equal((await ask("deadlY")).status, 200);

    await waitUntil(() => requests.length >= 8);
    const deadly = requests.filter(({ status }) => status === 502);
    const [line = "", ...others] = log.lines.filter((each) => each.includes("have died of a prompt"));
    assert.deepEqual(others, []);
    const fields = JSON.parse(line.slice(line.indexOf("{"))) as Record<string, unknown>;
    assert.deepEqual([fields["model"], fields["seconds"]], ["m", 60]);
    assert.equal(fields["requests"], deadly.map(({ id }) => id).join(", "));
    assert.equal(fields["endpoints"], deadly.map(({ attempts }) => attempts[0]!.endpoint).join(", "));
    assert.match(warnings().join(), /^A prompt of \d+ bytes for m is refused until \d\d:\d\d:\d\d UTC/);
    assert.doesNotMatch(JSON.stringify([log.lines, warnings()]), /deadly/);
  });

  it("is found among prompts that were there each time with it", { timeout: 30_000 }, async () => {
    const { quarantined, ask, begin, lost } = await pool();
    for (let i = 0; i < 2; i++) {
      const end = await begin(`slow ${i}`, REPLICAS - i);
      assert.equal((await ask("deadly")).status, 502);
      await lost(2 * (i + 1));
      end();
    }
    await quarantined();
    assert.equal((await ask("deadly")).status, 422);
  });

  it("is told by a third death from one that was there both times: until then neither is refused", {
    timeout: 30_000,
  }, async () => {
    const { quarantined, ask, begin, lost } = await pool();
    const ends: (() => void)[] = [];
    for (let i = 0; i < 2; i++) {
      ends.push(await begin("slow", REPLICAS - i));
      assert.equal((await ask("deadly")).status, 502);
      await lost([2, 5][i]!);
    }
    ends.push(await begin("slow", 1));
    for (const end of ends) end();
    assert.equal((await ask("deadly")).status, 502);
    await quarantined();
    assert.equal((await ask("deadly")).status, 422);
    await begin("slow", 1);
  });

  it("has been refused to its own tenant only", { timeout: 30_000 }, async () => {
    const digest = (key: string) => createHash("sha256").update(key).digest("hex");
    const entry = (name: string, tenant: string) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, tenant: ${tenant} }`;
    const { quarantined, ask, warnings } = await pool(
      `  auth: { keys: [${entry("a1", "a")}, ${entry("a2", "a")}, ${entry("b1", "b")}] }\n`,
      (replica, socket) => {
        if (replica.requests.length < 2) die(replica);
        else socket.write(OK);
      },
    );
    const by = (name: string) => ask("deadly", "", `Authorization: Bearer sk-${name}\r\n`);
    for (const name of ["a1", "a2"]) assert.equal((await by(name)).status, 502);
    await quarantined();
    for (const name of ["a1", "a2"]) assert.equal((await by(name)).status, 422);
    assert.equal((await by("b1")).status, 502);
    assert.match(warnings().join(), /of the tenant a for m/);
  });

  it("is not refused if a replica has served it in between: it only was there", { timeout: 30_000 }, async () => {
    const { ask, begin, lost, waiting } = await pool();
    // Somebody who has replicas die of ever new prompts wants the blame to fall on a prompt that many ask.
    for (let i = 0; i < 3; i++) {
      waiting.isOn = true;
      const end = await begin("slow", REPLICAS - i);
      assert.equal((await ask(`deadly ${i}`)).status, 502);
      await lost(2 * (i + 1));
      end();
      waiting.isOn = false;
      assert.equal((await ask("slow")).status, 200);
    }
  });
});

describe("no death", () => {
  it("is a connection that a replica closes, and goes on", { timeout: 30_000 }, async () => {
    const { ask, got } = await pool();
    for (let i = 0; i < 4; i++) assert.equal((await ask("closes")).code, "upstream_reset");
    assert.ok(got("closes") >= 4);
  });

  it("is laid to a prompt that has tokens", { timeout: 30_000 }, async () => {
    const { ask } = await pool("", (replica, socket) => {
      const event =
        'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\ndata: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
      socket.write(STREAM_HEAD + chunkOf(event), () => setTimeout(() => die(replica), 50));
    });
    for (let i = 0; i < 3; i++) assert.equal((await ask("deadly", ',"stream":true')).status, 200);
  });

  it("counts where quarantine is off", { timeout: 30_000 }, async () => {
    const { ask, got } = await pool("  quarantine: false\n");
    for (let i = 0; i < 3; i++) assert.equal((await ask("deadly")).status, 502);
    assert.equal(got("deadly"), 3);
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadTexts } from "../../config/load.ts";
import { silentLog } from "../../core/contract/log.ts";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { KeptState } from "../../core/control/kept-state.ts";
import { buildPluginSet } from "../../core/control/plugin-set.ts";
import { builtIns } from "../../plugins/registry.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { chatBody, event, OK, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD } from "../support/scripted-replica.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-outside-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A feature in a file of its own, as its author writes it in JavaScript. */
function featureFile(slots: string): string {
  const name = `feature-${files++}.mjs`;
  const source = `import { defineFeature, RouterError } from "signalbox/plugin";
const fail = () => { throw new Error("broken on purpose"); };
const hidden = new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });
export default defineFeature({ type: "mine", summary: "", create: (_options, host) => (${slots}) });
`;
  writeFileSync(join(folder, name), source);
  return name;
}

async function start(slots: string) {
  const answer = `${STREAM_HEAD}${chunkOf(event(1))}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;
  const script = ({ body }: { body: Buffer }, socket: { write(text: string): unknown }) =>
    void socket.write(body.includes('"stream":true') ? answer : OK);
  const spec = `  plugins: [ { from: ./${featureFile(slots)} } ]\n`;
  const { router, replica } = await setUp([script], { file: join(folder, "router.yaml"), spec });
  const ask = async (extra = "", path = "/v1/chat/completions") => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(
      `${router.url}${path}`,
      extra === "GET" ? {} : { method: "POST", headers, body: chatBody(extra) },
    );
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { ask, replica, faults: () => router.router.plugins.faults.counts.get("mine") ?? 0, features: router.router.features };
}

const HARMLESS: readonly (readonly [name: string, slots: string])[] = [
  ["a tap that throws", "{ tap: fail }"],
  ["a tap that throws as bytes pass", "{ tap: () => ({ read: fail, end() {} }) }"],
  ["a tap that throws at the end", "{ tap: () => ({ read() {}, end: fail }) }"],
  [
    "a tap that writes into what passes",
    "{ tap: () => ({ read: (chunk) => { chunk.fill(0); throw new Error('seen'); }, end() {} }) }",
  ],
  [
    "a tap that inserts where nothing may stand",
    "{ tap: (_run, seen) => ({ read: () => seen.insert(Buffer.from('x')), end() {} }) }",
  ],
  ["lines that are not whole", "{ lines: () => 'x-a: 1' }"],
  ["lines that end the head", "{ lines: () => 'x-a: 1\\r\\n\\r\\nevil\\r\\n' }"],
  ["a copy that throws", "{ copy: fail }"],
  ["a comparison that decides nothing", "{ compare: fail }"],
  ["lines that no client takes", "{ lines: () => 'x-a: '.padEnd(10_000, '1') + '\\r\\n' }"],
  ["a tap that throws when it is read", "{ tap: () => ({ get read() { return fail(); }, end() {} }) }"],
  ["a tap that lets nobody look", "{ tap: () => hidden }"],
  ["settled that throws", "{ settled: fail }"],
  ["settled that throws what lets nobody look", "{ settled: () => { throw hidden; } }"],
  ["settled that is async, and fails", "{ settled: async () => fail() }"],
  ["a note that is none", "{ explain: () => 5 }"],
  ["a write into the outcome", "{ settled: (outcome) => { outcome.status = 500; } }"],
];
const FATAL: readonly (readonly [name: string, slots: string])[] = [
  ["enter that throws", "{ enter: fail }"],
  ["enter that rejects", "{ enter: async () => fail() }"],
  ["enter that writes into the head", "{ enter: (run) => { run.head.method = 'GET'; } }"],
  ["enter that throws what lets nobody look", "{ enter: () => { throw hidden; } }"],
  ["enter that returns what lets nobody look", "{ enter: () => hidden }"],
  ["enter that refuses with a code that there is not", "{ enter: () => { throw new RouterError('no_such_code', 'No.'); } }"],
  [
    "enter that rejects with one that it has spoiled",
    "{ enter: async () => { throw Object.assign(new RouterError('saturated', 'No.'), { code: 'no_such_code' }); } }",
  ],
  ["admit that throws", "{ admit: fail }"],
  ["admit that returns what lets nobody look", "{ admit: () => hidden }"],
  [
    "admit that refuses with another header",
    "{ admit: () => { throw new RouterError('saturated', 'No.', { allow: 'GET\\r\\nx-b: 1' }); } }",
  ],
  ["admit that is async", "{ admit: async () => {} }"],
  ["admit that writes into what was parsed", "{ admit: (run) => { run.parsed.model = 'mine'; } }"],
  ["answer that throws", "{ answer: fail }"],
  ["answer that rejects", "{ answer: async () => fail() }"],
  ["answer that is none", "{ answer: () => ({ status: 200 }) }"],
  ["answer that lets nobody look", "{ answer: () => hidden }"],
  ["answer with a header that is two", "{ answer: () => ({ status: 200, headers: { 'x-a': '1\\r\\nx-b: 2' }, body: '' }) }"],
];

describe("a feature of one's own that breaks its contract: the client is served, and the fault is counted by its name", () => {
  for (const [name, slots] of HARMLESS) {
    it(name, async () => {
      const { ask, faults } = await start(slots);
      for (const extra of ["", STREAM]) {
        const { status, headers, text } = await ask(extra);
        assert.equal(status, 200);
        assert.equal(headers.get("x-a"), null);
        assert.equal(text, extra === "" ? OK.slice(OK.indexOf("\r\n\r\n") + 4) : `${event(1)}data: [DONE]\n\n`);
      }
      assert.ok(faults() >= 1, "no fault was counted");
    });
  }
});

describe("a feature of one's own that fails while it decides: the client gets plugin_fault, and nothing of the fault", () => {
  for (const [name, slots] of FATAL) {
    it(name, async () => {
      const { ask, faults, replica } = await start(slots);
      const { status, text } = await ask();
      assert.equal(status, 500);
      assert.equal(JSON.parse(text).error.code, "plugin_fault");
      assert.doesNotMatch(text, /on purpose|mjs/);
      assert.equal(replica.requests.length, 0);
      assert.equal(faults(), 1);
    });
  }

  it("on a path of its own too", async () => {
    const { ask } = await start("{ routes: [{ method: 'GET', path: '/v1/mine', bodyBytes: 0, answer: () => undefined }] }");
    assert.equal((await ask("GET", "/v1/mine")).status, 500);
  });
});

describe("a feature of one's own", () => {
  it("has none of the router's parts", async () => {
    const { ask, features } = await start(
      "{ enter: (run) => { host.seen = [run.config, run.parts, run.response]; }, status: () => ({ host: Object.keys(host).sort(), seen: host.seen?.every((each) => each === undefined) }) }",
    );
    await ask();
    const { mine } = (features.status() as { features: { mine: { host: string[]; seen: boolean } } }).features;
    assert.equal(mine.seen, true);
    const usual = [
      "clock",
      "folder",
      "keep",
      "log",
      "name",
      "output",
      "plugins",
      "random",
      "secret",
      "seen",
      "signal",
      "usePrefixIndex",
    ];
    assert.deepEqual(mine.host, usual);
  });

  it("that keeps a request reads nothing of what comes into its memory later", async () => {
    const { ask, features } = await start(
      "{ ...((host.runs = []), {}), admit: (run) => void host.runs.push(run), status: () => ({ bytes: host.runs.map((run) => run.body.bytes.length) }) }",
    );
    for (const extra of ["", `,"user":"${"x".repeat(40_000)}"`]) await ask(extra);
    const { mine } = (features.status() as { features: { mine: { bytes: number[] } } }).features;
    assert.deepEqual(mine.bytes, [0, 0]);
  });

  it("with a path that can't be answered is refused with its name", async () => {
    const file = featureFile("{ routes: [{ method: 'PUT', path: '/v1/mine', bodyBytes: 0, answer: fail }] }");
    const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: false\n  pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }\n  plugins: [ { from: ./${file} } ]\n`;
    const loaded = await loadTexts([{ file: join(folder, "router.yaml"), text }], builtIns);
    if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
    const services = {
      clock: new FakeClock(),
      random: seededRandom(1),
      log: silentLog,
      output: { print() {}, isTerminal: false },
    };
    assert.throws(
      () => buildPluginSet(loaded, services, new KeptState()),
      /The feature "mine" can't be used: .*method PUT: write "GET", "POST" or "DELETE"/,
    );
  });
});

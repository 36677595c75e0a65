import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type MockReplica, startMockReplica } from "../../../apps/lab/mock/replica.ts";
import { needWebStreams } from "../../../core/fetch/web-streams.ts";
import { onThisRuntime } from "../../support/own-runtime.ts";
import { ROOT } from "../../support/suite/runtimes.ts";

let replica: MockReplica;
before(async () => {
  replica = await startMockReplica({ model: "m", timeScale: 0 });
});
after(() => replica.close());

describe("a host without Web streams", () => {
  it("routes with those of web-streams-polyfill", async (t) => {
    // They have streams wherever they run, so nobody needs others there.
    const isNewerNode = !("Bun" in globalThis) && Number.parseInt(process.versions.node, 10) > 20;
    if ("Deno" in globalThis || isNewerNode)
      return t.skip("the Request of Deno and of newer Nodes takes no streams but their own");
    const { command, args } = onThisRuntime(join(ROOT, "tests", "support", "no-streams-process.ts"));
    const { stdout } = await promisify(execFile)(command, [...args, replica.url], { cwd: ROOT, timeout: 30_000 });
    assert.deepEqual(JSON.parse(stdout), { taken: "function", statuses: [200, 200], ends: "data: [DONE]" });
  });

  it("is told what to install", async () => {
    const { ReadableStream: own } = globalThis;
    Reflect.set(globalThis, "ReadableStream", undefined);
    const told = needWebStreams(() => Promise.reject(new Error("Cannot find package")));
    Reflect.set(globalThis, "ReadableStream", own);
    await assert.rejects(told, /npm i web-streams-polyfill$/);
  });
});

it("a host that has them keeps its own", async () => {
  const { ReadableStream: own } = globalThis;
  await needWebStreams(() => Promise.reject(new Error("not asked for")));
  assert.equal(globalThis.ReadableStream, own);
});

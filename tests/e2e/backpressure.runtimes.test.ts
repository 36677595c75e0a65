import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { type Flood, flood, floodEvent, stalledClient, standstill } from "../support/flood.ts";
import { onThisRuntime } from "../support/own-runtime.ts";
import { heldBytes } from "../support/process-usage.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const MB = 1024 * 1024;
/** What a paused socket has read already, which is not ours to choose. */
const READ_AHEAD_BYTES = "bun" in process.versions ? 512 * 1024 : 0;
/** Of a stream's objects and of its connections', beside its bytes. */
const OBJECT_BYTES = 128 * 1024;

/** Reads everything up to the end of the connection. */
function readOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.once("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.resume();
  });
}

/** Both ends of stalled streams, outside this process; see tests/support/stall-process.ts. */
async function startStalls() {
  const { command, args } = onThisRuntime(join(import.meta.dirname ?? ".", "..", "support", "stall-process.ts"));
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextNumber = async () => Number((await lines.next()).value);
  return {
    replicaPort: await nextNumber(),
    /** Stalls so many streams; resolves with the bytes that the replica could send. */
    stall(port: number, count: number): Promise<number> {
      child.stdin.write(`${port} ${count}\n`);
      return nextNumber();
    },
    close: () => void child.kill("SIGKILL"),
  };
}

describe("a client that does not read", () => {
  it("stops the replica and gets every byte once it reads on", { timeout: 60_000 }, async () => {
    const events = 4_000;
    const floods: Flood[] = [];
    const { router } = await setUp([flood(floods, events)]);
    const client = await stalledClient(router.port);
    await waitUntil(() => floods.length === 1);
    assert.ok((await standstill(floods)) < events * floodEvent(0).length);
    const answer = wholeAnswer(await readOn(client.socket));
    assert.ok(answer.isComplete);
    // Not assert.equal, which would print both.
    assert.ok(answer.body === Array.from({ length: events }, (_, n) => floodEvent(n)).join(""));
    await assertIdle(router);
    assert.equal(router.log[0]!.ending, "complete");
  });

  it("stops the replica within 16 MB and costs the router at most 1 MiB of it in memory", { timeout: 60_000 }, async () => {
    const [few, more] = [4, 20];
    const stalls = await startStalls();
    const router = await startTestRouter([`http://127.0.0.1:${stalls.replicaPort}`]);
    after(async () => {
      stalls.close();
      await router.close();
    });
    // What the first ones make the runtime load and compile is no stream's own.
    await stalls.stall(router.port, few);
    const before = await heldBytes();
    const sent = await stalls.stall(router.port, more);
    const held = ((await heldBytes()) - before) / more;
    // Nearly all of it is in the kernel, which gives now this, now that connection more room: what counts is the mean.
    assert.ok(sent / (few + more) < 16 * MB, `${sent / (few + more)} bytes per stream were sent to nobody`);
    assert.ok(held < MB + READ_AHEAD_BYTES + OBJECT_BYTES, `${held} bytes are held per stream`);
    stalls.close();
    await assertIdle(router);
  });
});

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { serviceManager } from "../../../../apps/cli/start/service-manager.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { waitUntil } from "../../../support/router.ts";
import { startRouterProcess } from "../../../support/router-process.ts";
import { answerOk } from "../../../support/scripted-pool.ts";
import { startScriptedReplica } from "../../../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };
const RECEIVER = join(import.meta.dirname ?? ".", "..", "..", "..", "support", "notify-receiver.py");
const canRun = (program: string) => spawnSync(program, ["--version"]).status === 0;
const obstacle = ["python3", "systemd-notify"]
  .filter((program) => !canRun(program))
  .map((program) => `${program} is not here`)[0];

/** A receiver as systemd's, in a program of its own. */
async function startReceiver() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-notify-"));
  const path = join(folder, "socket");
  const child = spawn("python3", [RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  after(async () => {
    process.kill(child.pid!, "SIGKILL");
    await exited;
    rmSync(folder, { recursive: true });
  });
  await waitUntil(() => text.includes("listening"));
  const messages = () =>
    text
      .split("\n")
      .slice(1, -1)
      .filter((line) => !line.startsWith("BARRIER"));
  return { path, messages };
}

describe("the service manager", () => {
  it("gets every message, in order", { ...TIMEOUT, skip: obstacle }, async () => {
    const { path, messages } = await startReceiver();
    const log = collectedLog();
    const manager = serviceManager(log, { ...process.env, NOTIFY_SOCKET: path });
    manager.ready();
    manager.reloading();
    manager.ready();
    manager.stopping();
    await waitUntil(() => messages().length === 4);
    assert.deepEqual(messages(), ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]);
    assert.deepEqual(log.lines, []);
  });

  it("is told by the program that it is ready and that it stops", { ...TIMEOUT, skip: obstacle }, async () => {
    const { path, messages } = await startReceiver();
    const replica = await startScriptedReplica(answerOk);
    const router = await startRouterProcess([replica.url], {
      env: { NOTIFY_SOCKET: path },
      spec: "  limits: { settleMs: 60000 }",
    });
    after(async () => {
      router.kill("SIGKILL");
      await replica.close();
    });
    await waitUntil(() => messages().length === 1);
    router.kill("SIGTERM");
    await waitUntil(() => messages().length === 2);
    assert.deepEqual(messages(), ["READY=1", "STOPPING=1"]);
  });

  it("that can't be reached is one warning", TIMEOUT, async () => {
    const log = collectedLog();
    // With no program to be found in PATH.
    const manager = serviceManager(log, { PATH: "/nonexistent", NOTIFY_SOCKET: "/nonexistent/socket" });
    manager.ready();
    manager.stopping();
    await waitUntil(() => log.lines.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0]!, /install systemd-notify, or set Type=exec/);
  });

  it("is not there: nothing is run", () => {
    const log = collectedLog();
    const manager = serviceManager(log, { PATH: "/nonexistent" });
    manager.ready();
    manager.reloading();
    manager.stopping();
    assert.deepEqual(log.lines, []);
  });
});

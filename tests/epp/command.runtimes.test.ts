import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { signalbox, until } from "../support/cli.ts";
import { health } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { waitUntil } from "../support/router.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

describe("signalbox epp", () => {
  it("serves on its ports until it is stopped, and announces the stop to health checks", { timeout: 60_000 }, async () => {
    const replica = await startScriptedReplica(() => {});
    after(() => replica.close());
    const { child, output, ended } = signalbox("epp", replica.url, "--grpc-port", "0", "--admin-port", "0");
    after(() => child.kill("SIGKILL"));
    await until(() => output.err.includes("Status page"));
    const [, port = ""] = /listening on grpc:\/\/127\.0\.0\.1:(\d+) .*1 of 1 replicas ready/.exec(output.err) ?? [];
    const [, admin = ""] = /Metrics: ([^ "]+)/.exec(output.err) ?? [];
    const client = new GrpcClient(Number(port));
    assert.equal(await health(client, ""), "SERVING");
    assert.match(await (await fetch(admin)).text(), /signalbox_/);
    // Not child.kill, after which Deno takes every end for the signal's doing.
    process.kill(child.pid!, "SIGTERM");
    await waitUntil(() => client.isClosed);
    assert.equal(client.goawayCode, 0);
    assert.equal(await ended, 0);
    assert.equal(output.err.includes("error"), false, output.err);
  });

  it("says what to change when its port is taken", { timeout: 60_000 }, async () => {
    const replica = await startScriptedReplica(() => {});
    after(() => replica.close());
    const taken = signalbox("epp", replica.url, "--grpc-port", String(replica.port), "--admin-port", "0");
    assert.equal(await taken.ended, 1);
    assert.match(taken.output.err, /is in use.*--grpc-port/);
  });
});

/** Keys in a file of their own, while a real router runs: new ones, revoked ones, and a file that is broken. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { run } from "../support/cli.ts";
import { openClient, readAnswer } from "../support/raw-client.ts";
import { startReloadingRouter } from "../support/reloading.ts";
import { chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

describe("a keys file", () => {
  it("takes effect as it is saved: revoked keys ask no more, their streams go on, and a broken file changes nothing", async () => {
    let end = () => {};
    const replica = await startScriptedReplica((_request, socket) => {
      socket.write(STREAM_HEAD + chunkOf(event(0)));
      end = () => void socket.write(chunkOf(event(1)) + LAST_CHUNK);
    });
    after(() => replica.close());
    const router = await startReloadingRouter({
      "signalbox.yaml": `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "${replica.url}" } ] }\n  auth: { keysFile: keys.yaml }\n`,
      "keys.yaml": "[]\n",
    });
    const file = router.at("keys.yaml");
    const made = async (name: string) => (await run("key", "new", name, "-f", file)).out.trim();
    /** The connection of a stream that has begun, or the status that refused it. */
    const open = async (key: string) => {
      const client = await openClient(router.process.port);
      client.send(chatPost(STREAM, `Authorization: Bearer ${key}\r\n`));
      await client.until((text) => text.includes(event(0)) || /HTTP\/1\.1 4/.test(text));
      const { status } = readAnswer(client.received.slice(0, client.received.indexOf("\r\n\r\n") + 4));
      return { client, status };
    };
    const untilGeneration = (generation: number) => router.untilGeneration(generation);

    const alice = await made("alice");
    await untilGeneration(2);
    const bob = await made("bob");
    await untilGeneration(3);
    const stream = await open(alice);
    assert.equal(stream.status, 200);

    await run("key", "revoke", "alice", "-f", file);
    const { config } = await untilGeneration(4);
    assert.deepEqual(config.lastReload?.changes, ["key alice removed"]);
    assert.equal((await open(alice)).status, 401);
    end();
    assert.match(await stream.client.until((text) => text.endsWith(LAST_CHUNK)), /"n":1/);
    stream.client.destroy();

    const good = readFileSync(file, "utf8");
    writeFileSync(file, `${good}- name: carol\n  sha256: sk-oops\n`);
    const { config: broken } = await router.untilReload(({ lastReload }) => lastReload?.isApplied === false);
    assert.match(
      broken.lastReload?.problems.join("") ?? "",
      /keys\.yaml:\d+:\d+ .*sha256 {2}found text; wanted the key's SHA-256/,
    );
    const { warnings } = await router.status();
    assert.match(warnings.join("\n"), /keys\.yaml.* So the changed config can't run, and the one before goes on\./);
    const served = await open(bob);
    assert.equal(served.status, 200);
    end();
    served.client.destroy();
    assert.match(router.process.errors, /The config was not replaced: the one before runs on[\s\S]*keys\.yaml/);
    for (const text of [router.process.errors, router.process.printed, JSON.stringify(broken)])
      for (const secret of ["sk-oops", alice, bob]) assert.ok(!text.includes(secret));

    writeFileSync(file, good);
    await router.untilReload(({ lastReload }) => lastReload?.isApplied === true);
    assert.equal((await router.status()).warnings.length, 0);
  });
});

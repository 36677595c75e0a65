import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import type { Status } from "../../apps/admin/status.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { exchange, isWholeAnswer, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = "/v1/chat/completions";
const PLUGINS = `  plugins: [ { type: session-affinity-filter } ]
  profiles: [ { plugins: [ { pluginRef: ready }, { pluginRef: serves-model }, { pluginRef: session-affinity-filter } ] } ]`;

let replicas: ScriptedReplica[];
let router: TestRouter;
let admin: AdminServer;
let finish: (() => void) | undefined;

before(async () => {
  const script: Parameters<typeof startScriptedReplica>[0] = (request, socket) => {
    const respond = () => void socket.write(jsonAnswer('{"choices":[{"index":0}],"model":"m"}'));
    if (request.body.toString().includes('"slow"')) finish = respond;
    else respond();
  };
  replicas = await Promise.all([startScriptedReplica(script, ["m"]), startScriptedReplica(script, ["m"])]);
  router = await startTestRouter(
    replicas.map(({ url }) => url),
    { spec: PLUGINS },
  );
  admin = await startTestAdmin(router.router);
});
after(async () => {
  await admin.close();
  await router.close();
  await Promise.all(replicas.map((replica) => replica.close()));
});

const body = (extra = "") => `{"model":"m","messages":[]${extra}}`;
const change = (name: string, action: string, wish = "{}") =>
  exchange(admin.port, postBytes(`/api/v1/endpoints/${name}/${action}`, wish)).then(readAnswer);
const intentOf = async (name: string) => {
  const { endpoints } = JSON.parse((await askFor(admin.port, "/status")).body) as Status;
  return endpoints.find((endpoint) => endpoint.name === name)?.intent;
};
const headerOf = (head: string, name: string) => new RegExp(`^${name}: (.*?)\\r?$`, "im").exec(head)?.[1] ?? "";
const send = (lines = "") => exchange(router.port, postBytes(CHAT, body(), lines)).then(readAnswer);

describe("a draining endpoint", () => {
  it("finishes what is under way, serves its sessions for a grace, and is empty then", async () => {
    const slow = await openClient(router.port);
    slow.send(postBytes(CHAT, body(',"user":"slow"')));
    await waitUntil(() => finish !== undefined);
    const busy = router.router.pool.facts.endpoints.find(({ slot }) => router.router.pool.load.inFlight[slot] === 1)!.name;
    const session = `X-Session-Token: ${Buffer.from(busy).toString("base64")}\r\n`;

    assert.equal((await change(busy, "drain", '{"graceSeconds":60}')).status, 200);
    const hosts = await Promise.all(Array.from({ length: 8 }, () => send()));
    assert.ok(hosts.every(({ status, head }) => status === 200 && headerOf(head, "x-signalbox-endpoint") !== busy));
    const own = await send(session);
    assert.deepEqual([own.status, headerOf(own.head, "x-signalbox-endpoint")], [200, busy]);
    assert.equal((await intentOf(busy))?.isEmpty, false);

    assert.equal((await change(busy, "drain", '{"graceSeconds":0}')).status, 200);
    assert.notEqual(headerOf((await send(session)).head, "x-signalbox-endpoint"), busy);
    assert.equal((await intentOf(busy))?.isEmpty, false);
    finish?.();
    assert.equal(readAnswer(await slow.until(isWholeAnswer)).status, 200);
    slow.destroy();
    await waitUntil(() => router.router.pool.facts.endpoints.every(({ slot }) => router.router.pool.load.inFlight[slot] === 0));
    assert.equal((await intentOf(busy))?.isEmpty, true);
    await change(busy, "undrain");
    assert.equal(await intentOf(busy), null);
  });

  it("when all drain, clients are told so with 503; cordoned ones serve on", async () => {
    const names = router.router.pool.facts.endpoints.map(({ name }) => name);
    for (const name of names) await change(name, "drain", '{"graceSeconds":0}');
    const refused = await send();
    assert.equal(refused.status, 503);
    assert.match(JSON.stringify(refused.json), /2 draining/);
    for (const name of names) await change(name, "cordon");
    assert.equal((await send()).status, 200);
    assert.equal(readAnswer(await exchange(router.port, "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n")).status, 200);
    for (const name of names) await change(name, "undrain");
  });
});

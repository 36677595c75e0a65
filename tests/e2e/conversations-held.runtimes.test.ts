/** What is held of conversations: for whom, how much, and how long. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, describe, it } from "node:test";
import { systemClock } from "../../core/contract/clock.ts";
import { askFor } from "../support/admin.ts";
import { run } from "../support/cli.ts";
import {
  ask,
  assertUnknown,
  dropped,
  inTurn,
  LOGGED,
  NOT_HELD,
  ON,
  post,
  RESPONSES,
  responseOf,
  said,
  shown,
  user,
} from "../support/conversations.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { configOver, startReloadingRouter } from "../support/reloading.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer, startScriptedReplica } from "../support/scripted-replica.ts";

describe("what is held", () => {
  const key = (name: string) => createHash("sha256").update(`sk-${name}`).digest("hex");
  const entry = (name: string, tenant: string) => `{ name: ${name}, sha256: ${key(name)}, tenant: ${tenant} }`;
  const AUTH = `  auth: { keys: [${entry("a1", "a")}, ${entry("a2", "a")}, ${entry("b1", "b")}] }\n`;
  const as = (name: string) => `Authorization: Bearer sk-${name}\r\n`;

  it("is one tenant's: a key of another one does not know it", async () => {
    const { router } = await setUp([inTurn()], { spec: ON + AUTH });
    await ask(router, '{"model":"m","input":"secret"}', as("a1"));
    await assertUnknown(router, "resp_1", NOT_HELD, as("b1"));
    await ask(router, '{"model":"m","input":"go on","previous_response_id":"resp_1"}', as("a2"));
  });

  it("gets the salt of its tenant, and the name of its target", async () => {
    const spec = ON + AUTH.replace("auth: {", "auth: { saltByTenant: true,");
    const rule = "matches: [{ model: { type: Exact, value: food } }], targets: [{ modelRewrite: m }]";
    const documents = `---\napiVersion: llm-d.ai/v1alpha2\nkind: InferenceModelRewrite\nmetadata: { name: food }\nspec: { poolRef: { name: default }, rules: [{ ${rule} }] }\n`;
    const { router, replica } = await setUp([inTurn()], { spec, documents });
    await ask(router, '{"model":"food","input":"1"}', as("a1"));
    await ask(router, '{"input":"2","previous_response_id":"resp_1","model":"food","cache_salt":"mine"}', as("a1"));
    const { cache_salt: salt, ...rest } = JSON.parse(replica.requests[1]!.body.toString()) as Record<string, unknown>;
    assert.match(String(salt), /^[\w-]{43}$/);
    assert.deepEqual(rest, JSON.parse(`{"input":[${user("1")},${said("1")},${user("2")}],"model":"m"}`));
  });

  it("counts against the limit of a key with all that is sent", async () => {
    const limited = AUTH.replace("tenant: a }", "tenant: a, limits: { tokensPerMinute: 3000 } }");
    const { router } = await setUp([inTurn()], { spec: ON + limited });
    const send = (rest: string) => post(router, `{"model":"m","max_output_tokens":1,${rest}}`, as("a1"));
    assert.equal((await send(`"input":"${"x".repeat(7_000)}"`)).status, 200);
    assert.equal((await send('"input":"go on","previous_response_id":"resp_1"')).status, 200);
    assert.equal((await send('"input":"go on"')).status, 429);
  });

  it("is forgotten when nothing has continued it for so long", async () => {
    let laterMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
    const { router } = await setUp([inTurn()], { spec: ON.replace("{}", "{ ttlMs: 600000 }"), clock });
    await ask(router, '{"model":"m","input":"1"}');
    laterMs += 590_000;
    await ask(router, '{"model":"m","input":"2","previous_response_id":"resp_1"}');
    laterMs += 590_000;
    await ask(router, '{"model":"m","input":"3","previous_response_id":"resp_1"}');
    laterMs += 590_000;
    await ask(router, '{"model":"m","input":"4","previous_response_id":"resp_3","store":false}');
    laterMs += 590_000;
    await ask(router, '{"model":"m","input":"5","previous_response_id":"resp_3"}');
    laterMs += 601_000;
    for (const id of ["resp_1", "resp_3", "resp_5"]) await assertUnknown(router, id, NOT_HELD);
  });

  it("outlives a change of the config, and is gone once it is turned off", { timeout: 60_000 }, async () => {
    const replica = await startScriptedReplica(inTurn());
    after(() => replica.close());
    const configWith = (spec: string) => `${configOver({ one: replica.url })}${spec}`;
    const router = await startReloadingRouter({ "signalbox.yaml": configWith("  conversations: {}\n") });
    const { process } = router;
    const change = async (spec: string) => {
      const { generation } = (await router.status()).config;
      router.write("signalbox.yaml", configWith(spec));
      process.kill("SIGHUP");
      await router.untilGeneration(generation + 1);
    };
    await ask(process, '{"model":"m","input":"1"}');
    await change("  conversations: { maxTurns: 7 }\n");
    const last = await post(process, '{"model":"m","input":"2","previous_response_id":"resp_1"}');
    assert.match(replica.requests[1]!.body.toString(), /"input":\[.*"1".*"2"/s);
    const admin = `http://127.0.0.1:${process.adminPort}`;
    const { out } = await run("status", "--admin", admin);
    assert.match(
      out,
      /^conversations: 2 turns held in [\d,]+ of 268,435,456 bytes; 1 request continued one, 0 named one that is not held$/m,
    );
    const metrics = (await askFor(process.adminPort, "/metrics")).body;
    assert.match(metrics, /^signalbox_conversation_requests_total\{result="replayed"\} 1$/m);
    assert.match(
      (await run("explain", /^x-request-id: (\S+)/im.exec(last.text)![1]!, "--admin", admin)).out,
      /1 earlier turns, \d+ bytes, stand before its own input/,
    );
    await change("");
    await ask(process, '{"model":"m","input":"3","previous_response_id":"resp_2"}');
    assert.match(replica.requests[2]!.body.toString(), /"input":"3","previous_response_id":"resp_2"/);
    await change("  conversations: {}\n");
    await assertUnknown(process, "resp_2", NOT_HELD);
  });

  it("is bounded for each turn, and a later request is told so", async () => {
    const { router } = await setUp([inTurn()], { spec: ON.replace("{}", "{ maxTurnBytes: 1KiB }") });
    await ask(router, `{"model":"m","input":"${"x".repeat(1_100)}"}`);
    await assertUnknown(router, "resp_1", /maxTurnBytes, 1024 bytes/);
    assert.equal(dropped(router, "too_large"), 1);
  });

  it("is bounded in turns", async () => {
    const { router } = await setUp([inTurn()], { spec: ON.replace("{}", "{ maxTurns: 2 }") });
    await ask(router, '{"model":"m","input":"1"}');
    await ask(router, '{"model":"m","input":"2","previous_response_id":"resp_1"}');
    await ask(router, '{"model":"m","input":"3","previous_response_id":"resp_2"}');
    await assertUnknown(router, "resp_3", /maxTurns, 2 turns/);
    assert.equal(dropped(router, "too_many_turns"), 1);
  });

  it("is bounded in all: the conversation that was unused longest goes first, and none loses its beginning", async () => {
    const { router } = await setUp([inTurn()], { spec: ON.replace("{}", "{ maxBytes: 64KiB, maxTenantBytes: 64KiB }") });
    const text = "x".repeat(10_000);
    await ask(router, `{"model":"m","input":"${text}"}`);
    await ask(router, `{"model":"m","input":"${text}"}`);
    await ask(router, `{"model":"m","input":"${text}","previous_response_id":"resp_1"}`);
    for (let n = 4; n <= 6; n++) await ask(router, `{"model":"m","input":"${text}","previous_response_id":"resp_3"}`);
    await assertUnknown(router, "resp_2", NOT_HELD);
    await ask(router, '{"model":"m","input":"go on","previous_response_id":"resp_3"}');
    assert.ok(shown(router)!.bytes <= 65_536);
  });

  it("is refused with its size where the body would be longer than the router takes", async () => {
    const spec = `${ON}  limits: { bodyBytes: 4KiB }\n`;
    const { router, replica } = await setUp([inTurn()], { spec });
    await ask(router, `{"model":"m","input":"${"x".repeat(2_500)}"}`);
    const { status, error } = await post(router, `{"model":"m","input":"${"y".repeat(2_500)}","previous_response_id":"resp_1"}`);
    assert.deepEqual([status, error?.code], [413, "body_too_large"]);
    assert.match(error!.message, /4096 bytes/);
    assert.equal(replica.requests.length, 1);
    await assertIdle(router);
    assert.equal(router.router.gate.memory.bodyBytes, 0);
  });

  it("never mixes two responses that have the same id", async () => {
    const { router } = await setUp([(_request, socket) => void socket.write(jsonAnswer(responseOf("resp_1", "[]")))], {
      spec: ON,
    });
    await ask(router, '{"model":"m","input":"mine"}');
    await ask(router, '{"model":"m","input":"yours"}');
    await assertUnknown(router, "resp_1", /Two responses had this id/);
    assert.equal(dropped(router, "doubled"), 1);
  });

  it("waits in slices for a long history, and a client may leave meanwhile", { timeout: 60_000 }, async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    const numbers = `[${"1,".repeat(1_500_000)}1]`;
    const item = `{"role":"user","content":"long","extra":${numbers}}`;
    await ask(router, `{"model":"m","input":[${item}]}`);
    const client = await openClient(router.port);
    client.send(postBytes(RESPONSES, '{"model":"m","input":"left","previous_response_id":"resp_1"}'));
    await waitUntil(() => shown(router)!.replayed === 1);
    client.destroy();
    await ask(router, '{"model":"m","input":"go on","previous_response_id":"resp_1"}');
    const { input } = JSON.parse(replica.requests.at(-1)!.body.toString()) as { input: unknown[] };
    assert.deepEqual(input, JSON.parse(`[${item},${said("1")},${user("go on")}]`));
    await assertIdle(router);
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
  });

  it("is nothing where the feature is off: bodies go on as they came", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: LOGGED });
    const body = '{"model":"m","input":"a","previous_response_id":"resp_9","conversation":"conv_1"}';
    await ask(router, body);
    assert.equal(replica.requests[0]!.body.toString(), body);
    assert.equal(shown(router), null);
  });
});

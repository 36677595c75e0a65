import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import type { Status } from "../../apps/admin/status.ts";
import type { DecisionReport } from "../../core/report/report-schema.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { exchange, isWholeAnswer, openClient, postBytes, type RawClient, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { chunkOf, jsonAnswer, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = "/v1/chat/completions";
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 } ]
    - matches: [ { model: { type: Exact, value: summaries } } ]
      targets: [ { modelRewrite: v3 } ]
`;

let busy: ScriptedReplica;
let willing: ScriptedReplica;
let router: TestRouter;
let admin: AdminServer;

before(async () => {
  busy = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer("{}", "503 Service Unavailable")),
    ["v1", "v2", "both"],
  );
  willing = await startScriptedReplica(
    (request, socket) => {
      const body = request.body.toString();
      if (body.includes('"break"')) socket.end(STREAM_HEAD + chunkOf("data: {}\n\n"));
      else if (!body.includes('"hang"'))
        socket.write(jsonAnswer('{"choices":[{"index":0,"message":{"content":"Hi"}}],"ok":true}'));
    },
    ["v1", "v2", "m"],
  );
  // The scripted replicas answer for any model, so none may be asked for one that it does not list.
  const spec = "  pool: { adapters: { unlisted: none } }\n";
  router = await startTestRouter([busy.url, willing.url], { documents: REWRITE, spec });
  admin = await startTestAdmin(router.router);
});
after(async () => {
  await admin.close();
  await router.close();
  await Promise.all([busy.close(), willing.close()]);
});

const nameOf = (replica: ScriptedReplica) => `127.0.0.1-${replica.port}`;
const post = (body: string, lines = "") => exchange(router.port, postBytes(CHAT, body, lines)).then(readAnswer);
const chat = (model: string, more = "") => `{"model":"${model}","messages":[]${more}}`;

async function metrics(): Promise<ReadonlyMap<string, number>> {
  const { status, body } = await askFor(admin.port, "/metrics");
  assert.equal(status, 200);
  const samples = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

/** Over all series of the family whose labels include these. */
function sumOf(samples: ReadonlyMap<string, number>, family: string, labels: string): number {
  const found = [...samples].filter(([name]) => name.startsWith(`${family}{`) && name.includes(labels));
  return found.reduce((sum, [, value]) => sum + value, 0);
}

async function decisions(query = ""): Promise<readonly DecisionReport[]> {
  return (JSON.parse((await askFor(admin.port, `/decisions${query}`)).body) as { decisions: DecisionReport[] }).decisions;
}

const status = async () => JSON.parse((await askFor(admin.port, "/status")).body) as Status;

describe("what happened is what the admin port says", () => {
  it("a rollout in progress", async () => {
    const targets: string[] = [];
    for (let i = 0; i < 20; i++) {
      const { head } = await post(chat("food-review"), `X-Request-Id: rollout-${i}\r\n`);
      targets.push(/^x-signalbox-model: (\S+)/m.exec(head)?.[1] ?? "");
    }
    const had = (target: string) => targets.filter((each) => each === target).length;
    assert.deepEqual([had("v1"), had("v2")], [18, 2]);

    const samples = await metrics();
    assert.equal(samples.get('signalbox_rewrite_total{rule="food/0",target="v1"}'), 18);
    assert.equal(samples.get('signalbox_rewrite_total{rule="food/0",target="v2"}'), 2);
    assert.equal(sumOf(samples, "signalbox_requests_total", `endpoint="${nameOf(willing)}",status="2xx"`), 20);
    assert.equal(samples.get(`signalbox_attempts_total{endpoint="${nameOf(willing)}",result="2xx"}`), willing.requests.length);
    assert.equal(samples.get(`signalbox_attempts_total{endpoint="${nameOf(busy)}",result="5xx"}`) ?? 0, busy.requests.length);
    assert.equal(sumOf(samples, "signalbox_request_duration_seconds_count", 'api="chat-completions"'), 20);

    const last = await decisions("?id=rollout-19");
    assert.equal(last.length, 1);
    assert.equal(last[0]?.model, "food-review");
    assert.equal(last[0]?.target, targets[19]);
    assert.equal(last[0]?.rule, "food/0");
    const { endpoint, result } = last[0]?.attempts.at(-1) ?? {};
    assert.deepEqual([endpoint, result], [nameOf(willing), 200]);
    assert.deepEqual(
      (await decisions("?limit=3")).map(({ id }) => id),
      ["rollout-19", "rollout-18", "rollout-17"],
    );
  });

  it("a target that nobody serves", async () => {
    assert.equal((await post(chat("summaries"), "X-Request-Id: unserved\r\n")).status, 503);
    assert.deepEqual((await status()).warnings, [
      'No ready replica serves "v3", a target of the rewrite food/1: its requests get 503, unless a replica loads it when asked. Load it or set its weight to 0.',
    ]);
    const samples = await metrics();
    assert.equal(samples.get('signalbox_rewrite_target_ready_endpoints{rule="food/1",target="v3"}'), 0);
    assert.equal(samples.get('signalbox_rewrite_target_ready_endpoints{rule="food/0",target="v1"}'), 2);
    assert.equal(samples.get('signalbox_request_errors_total{code="target_unavailable"}'), 1);
    const [refused] = await decisions("?id=unserved");
    assert.equal(refused?.refusal?.code, "target_unavailable");
    assert.deepEqual(refused?.dropped, [{ filter: "serves-model", reasons: {}, endpoints: [nameOf(busy), nameOf(willing)] }]);
  });

  it("a body that can't be read", async () => {
    assert.equal((await post('{"model":', "X-Request-Id: unreadable\r\n")).status, 400);
    assert.equal(
      (await metrics()).get('signalbox_requests_total{api="chat-completions",target="none",endpoint="none",status="4xx"}'),
      1,
    );
    const [unread] = await decisions("?id=unreadable");
    assert.equal(unread?.errorCode, "invalid_json");
    assert.deepEqual(unread?.candidates, []);
  });

  it("a replica that is asked to wait its turn", async () => {
    assert.equal((await post(chat("both"), "X-Request-Id: busy\r\n")).status, 503);
    const [tried] = await decisions("?id=busy");
    assert.deepEqual(
      tried?.attempts.map(({ endpoint, result }) => [endpoint, result]),
      [[nameOf(busy), 503]],
    );
    assert.equal(tried?.why, `${nameOf(busy)} was the only candidate of 2: serves-model dropped ${nameOf(willing)}.`);
  });

  it("a stream that breaks", async () => {
    await exchange(router.port, postBytes(CHAT, chat("m", ',"stream":true,"user":"break"'), "X-Request-Id: broken\r\n"));
    await waitUntil(() => router.log.some(({ id }) => id === "broken"));
    assert.equal((await metrics()).get("signalbox_stream_broken_total"), 1);
    assert.equal((await decisions("?id=broken"))[0]?.ending, "broken");
  });

  it("a request under way, and a client that leaves", async () => {
    const client: RawClient = await openClient(router.port);
    client.send(postBytes(CHAT, chat("m", ',"user":"hang"'), "X-Request-Id: left\r\n"));
    await waitUntil(() => willing.requests.some(({ headers }) => headers.get("x-request-id") === "left"));
    const inFlight = `signalbox_endpoint_in_flight{endpoint="${nameOf(willing)}"}`;
    assert.equal((await metrics()).get(inFlight), 1);
    assert.equal((await status()).endpoints.find(({ name }) => name === nameOf(willing))?.inFlight, 1);
    assert.deepEqual(await decisions("?id=left"), []);

    client.destroy();
    await waitUntil(() => router.log.some(({ id }) => id === "left"));
    const samples = await metrics();
    assert.equal(samples.get(inFlight), 0);
    assert.equal(samples.get("signalbox_client_left_total"), 1);
    assert.equal((await decisions("?id=left"))[0]?.ending, "client-left");
  });

  it("the pool", async () => {
    const { endpoints, profile, pool, traffic } = await status();
    assert.equal(pool, "default");
    assert.deepEqual(
      endpoints.map(({ name, phase, models }) => ({ name, phase, models })),
      [
        { name: nameOf(busy), phase: "ready", models: ["v1", "v2", "both"] },
        { name: nameOf(willing), phase: "ready", models: ["v1", "v2", "m"] },
      ],
    );
    const figures = endpoints.map((endpoint) => endpoint.figures);
    assert.ok(figures.every(({ requests, replicaErrors, overloads }) => requests + replicaErrors + overloads > 0));
    assert.equal(figures[0]!.overloads, busy.requests.length);
    assert.ok(figures[1]!.replicaErrors >= 1 && figures[1]!.clientsLeft === 1);
    assert.ok(traffic.routerErrors === 1 && traffic.clientErrors >= 2, JSON.stringify(traffic));
    assert.ok(traffic.requests >= 25 && (traffic.ttftP50Ms ?? 0) > 0);
    for (const { since, why, lastCheckAgoMs, nextCheckInMs } of endpoints) {
      assert.ok(Math.abs(Date.now() - Date.parse(since ?? "")) < 600_000);
      assert.equal(why, "");
      assert.ok(lastCheckAgoMs !== null && lastCheckAgoMs >= 0 && nextCheckInMs !== null && nextCheckInMs >= 0);
    }
    assert.deepEqual(
      profile.filters.map(({ type }) => type),
      ["ready", "serves-model"],
    );
  });
});

it("a thousand names that nobody serves make no series", async () => {
  await post(chat("nobody-has-this"));
  const before = await metrics();
  const client = await openClient(router.port);
  let answered = 0;
  for (let i = 0; i < 1000; i++) {
    client.send(postBytes(CHAT, chat(`made-up-${i}`), `X-Request-Id: made-up-${i}\r\n`));
    const length = client.received.length;
    await client.until((received) => isWholeAnswer(received.slice(length)));
    answered += 1;
  }
  client.destroy();
  const later = await metrics();
  assert.equal(
    later.get('signalbox_request_errors_total{code="model_not_found"}'),
    (before.get('signalbox_request_errors_total{code="model_not_found"}') ?? 0) + answered,
  );
  assert.deepEqual([...later.keys()], [...before.keys()]);
  assert.equal((await decisions()).length, 100);
});

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { GatewayCall, servedMetadata, startTestEpp, type TestEpp } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, readyCount, waitUntil } from "../support/router.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Was the soup any good?" }] });
const JSON_HEADERS = { "content-type": "application/json" };
const ANSWER = JSON.stringify({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
});

describe("how many endpoints a gateway is told of", () => {
  let replicas: readonly ScriptedReplica[] = [];
  before(async () => {
    replicas = await Promise.all([1, 2, 3].map(() => startScriptedReplica(() => {})));
  });
  after(() => Promise.all(replicas.map((replica) => replica.close())));

  for (const [spec, told] of [
    ["", 1],
    ["  limits: { retries: 0 }", 1],
    ["  limits: { retries: 9 }", 1],
    ["  limits: { gatewayFallbacks: 1 }", 2],
    ["  limits: { gatewayFallbacks: 1, retries: 0 }", 2],
    ["  limits: { gatewayFallbacks: 9 }", 3],
  ] as const) {
    it(`${told} of 3 with${spec === "" ? " the defaults" : spec}`, async () => {
      const epp = await startTestEpp(
        replicas.map(({ url }) => url),
        { spec },
      );
      const client = new GrpcClient(epp.port);
      after(async () => {
        client.close();
        await epp.close();
      });
      const { destination = "", metadata } = await new GatewayCall(client, { body: CHAT }).ask();
      assert.equal(new Set(destination.split(",")).size, told, destination);
      assert.equal(metadata, destination);
    });
  }
});

describe("a gateway that did without the endpoint that it was told of", () => {
  let replicas: readonly MockReplica[] = [];
  let epp: TestEpp;
  let client: GrpcClient;

  /** Probes come so rarely that each one here was asked for. */
  async function start(fallbacks: number): Promise<void> {
    replicas = await Promise.all([1, 2, 3].map(() => startMockReplica({ model: "m", timeScale: 0 })));
    epp = await startTestEpp(
      replicas.map(({ url }) => url),
      { spec: `  pool: { probes: { readiness: { periodSeconds: 600 } } }\n  limits: { gatewayFallbacks: ${fallbacks} }` },
    );
    client = new GrpcClient(epp.port);
  }
  beforeEach(() => start(1));
  afterEach(async () => {
    client.close();
    await epp.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  const attribute = (name: string, value: string) => {
    const fields = { [name]: { string_value: value } };
    return { attributes: { "envoy.filters.http.ext_proc": { fields } } };
  };
  const at = (address: string) => replicas.find(({ port }) => address.endsWith(`:${port}`))!;
  const probes = ({ seen }: MockReplica) => seen.requests.filter(({ path }) => path === "/v1/models").length;
  const isReady = (address: string) =>
    epp.router.pool.facts.endpoints.find(({ url }) => url.href === `http://${address}`)?.isAvailable;
  const results = () => epp.log.at(-1)?.attempts.map(({ result }) => result);

  /** One request; `report` is what the gateway says of who served it, by the list that it was told. */
  async function serve(report: (list: readonly string[]) => ReturnType<typeof servedMetadata>, status = 200) {
    const call = new GatewayCall(client, { body: CHAT });
    const list = (await call.ask()).destination!.split(",");
    const before = probes(at(list[0]!));
    call.responseHead({ ":status": String(status), ...JSON_HEADERS }, report(list));
    if (status === 200) call.responseBody(ANSWER, true);
    await call.next();
    const lines = epp.log.length;
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && epp.log.length >= lines);
    return { first: list[0]!, before };
  }
  const unlisted = (list: readonly string[]) =>
    `127.0.0.1:${replicas.find(({ port }) => !list.join().includes(`:${port}`))!.port}`;
  const asked = async ({ first, before }: { first: string; before: number }) => {
    await waitUntil(() => probes(at(first)) > before);
    return at(first);
  };

  for (const [name, report, tries] of [
    ["the next of the list", (list: readonly string[]) => servedMetadata(list[1]!), ["passed-over", 200]],
    ["one that is not on the list", (list: readonly string[]) => servedMetadata(unlisted(list)), ["passed-over", 200]],
    ["one by its upstream address", (list: readonly string[]) => attribute("upstream.address", list[1]!), ["passed-over", 200]],
  ] as const) {
    it(`served by ${name}: the first one stays, and is probed at once`, async () => {
      const generations = () => epp.router.pool.facts.endpoints.map(({ generation }) => generation);
      const before = generations();
      const told = await serve(report);
      assert.deepEqual(results(), tries);
      assert.equal(readyCount(epp.router), 3);
      await asked(told);
      assert.equal(readyCount(epp.router), 3);
      assert.deepEqual(generations(), before, "its cache is still believed in");
    });
  }

  for (const [details, tries] of [
    ["no_healthy_upstream", ["passed-over"]],
    ["upstream_reset_before_response_started{overflow}", ["passed-over"]],
    ["cluster_not_found", ["passed-over"]],
    [
      "upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}",
      ["connect-failed"],
    ],
    ["upstream_reset_before_response_started{connection_timeout}", ["connect-timeout"]],
    ["upstream_reset_before_response_started{connection_termination}", ["reset"]],
    ["upstream_reset_before_response_started{remote_reset}", ["reset"]],
    ["upstream_response_timeout", ["timeout"]],
  ] as const) {
    it(`answered by itself, ${details}: ${tries}, and no replica leaves`, async () => {
      const told = await serve(() => attribute("response.code_details", details), 503);
      assert.deepEqual(results(), tries);
      assert.equal(readyCount(epp.router), 3);
      if (tries[0] !== "reset" && tries[0] !== "timeout") await asked(told);
      assert.equal(readyCount(epp.router), 3);
    });
  }

  it("a gateway that takes turns of its own, for long: no replica leaves, and each request is served", async () => {
    for (let i = 0; i < 60; i++) {
      await serve(() => servedMetadata(`127.0.0.1:${replicas[i % 3]!.port}`));
      assert.equal(readyCount(epp.router), 3, `after ${i + 1} reports`);
      assert.equal(epp.log.at(-1)?.status, 200);
    }
  });

  it("a gateway that never goes to one replica: it is ejected, as others may be, and the others stay", async () => {
    const avoided = `127.0.0.1:${replicas[0]!.port}`;
    const rest = [1, 2].map((index) => `127.0.0.1:${replicas[index]!.port}`);
    await serve(() => servedMetadata(rest[0]!));
    for (let i = 0; i < 200 && isReady(avoided); i++)
      await serve((list) => servedMetadata(list[0] === avoided ? rest[i % 2]! : list[0]!));
    assert.equal(isReady(avoided), false);
    assert.deepEqual(rest.map(isReady), [true, true]);
    for (let i = 0; i < 5; i++) {
      const { first } = await serve((list) => servedMetadata(list[0]!));
      assert.notEqual(first, avoided);
    }
  });

  it("a gateway that can reach nobody empties no pool", async () => {
    for (let i = 0; i < 30; i++) {
      await serve(() => attribute("response.code_details", "no_healthy_upstream"), 503);
      assert.ok(readyCount(epp.router) > 0, `after ${i + 1} reports`);
    }
  });

  it("a replica that is dead: the probe that was asked for finds it, long before its time", async () => {
    const call = new GatewayCall(client, { body: CHAT });
    const list = (await call.ask()).destination!.split(",");
    await at(list[0]!).close();
    call.responseHead(JSON_HEADERS, servedMetadata(list[1]!));
    call.responseBody(ANSWER, true);
    await waitUntil(() => isReady(list[0]!) === false);
    assert.equal(isReady(list[1]!), true);
  });

  it("believes the gateway's word of who served before a header that the replica may have written", async () => {
    const call = new GatewayCall(client, { body: CHAT });
    const list = (await call.ask()).destination!.split(",");
    const header = { "x-gateway-destination-endpoint-served": list[1]! };
    call.responseHead({ ...JSON_HEADERS, ...header }, attribute("upstream.address", list[0]!));
    call.responseBody(ANSWER, true);
    await call.next();
    await waitUntil(() => epp.log.length > 0);
    assert.deepEqual(results(), [200]);
  });
});

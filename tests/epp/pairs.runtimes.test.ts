/** Prompts and answers apart behind a gateway: it sends the request to the answer's endpoint, and a header tells of the prompt's. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { type EnvoyProcess, HAS_ENVOY, startEnvoy } from "../support/envoy.ts";
import { BUFFERED, GatewayCall, servedMetadata, startTestEpp, type TestEpp } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const PREFILLER = "x-prefiller-host-port";
const LONG = "Was the soup any good? ".repeat(200);
const chat = (content: string) => JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
const ANSWER = JSON.stringify({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1000, completion_tokens: 2, total_tokens: 1002 },
});

const specOf = (
  decoders: readonly ScriptedReplica[],
  prefillers: readonly ScriptedReplica[],
  { transfer = "side-car", fallbacks = 1 },
) => {
  const one =
    (role: string) =>
    ({ port }: ScriptedReplica) =>
      `      - { url: "http://127.0.0.1:${port}", labels: { llm-d.ai/role: ${role} } }`;
  return [
    `  disaggregation: { transfer: ${transfer}, decider: { uncachedTokens: 100 } }`,
    `  limits: { gatewayFallbacks: ${fallbacks} }`,
    "  plugins: [ { type: outcomes } ]",
    "  pool:",
    "    endpoints:",
    ...decoders.map(one("decode")),
    ...prefillers.map(one("prefill")),
  ].join("\n");
};

const addressOf = ({ port }: ScriptedReplica) => `127.0.0.1:${port}`;

describe("a pair behind a gateway", () => {
  const all: ScriptedReplica[] = [];
  let decoders: readonly ScriptedReplica[] = [];
  let prefillers: readonly ScriptedReplica[] = [];
  const closers: (() => Promise<void> | void)[] = [];

  before(async () => {
    for (let index = 0; index < 4; index++) all.push(await startScriptedReplica((_, socket) => socket.write(jsonAnswer(ANSWER))));
    decoders = all.slice(0, 2);
    prefillers = all.slice(2);
  });
  after(async () => {
    for (const close of closers) await close();
    await Promise.all(all.map((replica) => replica.close()));
  });

  let last: Outcome | undefined;
  const outcomes = defineObserver({
    type: "outcomes",
    summary: "Keeps the last outcome.",
    options: z.strictObject({}),
    create: () => ({
      finished(outcome) {
        last = outcome;
      },
    }),
  });

  async function start(options: Parameters<typeof specOf>[2] = {}): Promise<{ epp: TestEpp; client: GrpcClient }> {
    const spec = specOf(decoders, prefillers, options);
    const epp = await startTestEpp([], { spec, ready: 4, plugins: [outcomes] });
    const client = new GrpcClient(epp.port);
    closers.push(() => client.close(), epp.close);
    return { epp, client };
  }

  async function served(epp: TestEpp, call: GatewayCall, address: string): Promise<void> {
    call.responseHead({ "content-type": "application/json", "content-length": String(ANSWER.length) }, servedMetadata(address));
    await call.next();
    call.responseBody(ANSWER, true);
    assert.equal(await call.passedBody(), ANSWER);
    call.call.end();
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && outstanding(epp.router).prefillTokens === 0);
  }

  for (const transfer of ["side-car", "nixl"])
    for (const requestMode of [undefined, BUFFERED])
      it(`is told by a header, whatever the transfer is (${transfer}, ${requestMode === BUFFERED ? "buffered" : "streamed"})`, async () => {
        const { epp, client } = await start({ transfer });
        const call = new GatewayCall(client, { body: chat(LONG), ...(requestMode && { requestMode }) });
        const { destination = "", metadata, headers, body } = await call.ask();
        assert.equal(metadata, destination);
        assert.deepEqual(new Set(destination.split(",")), new Set(decoders.map(addressOf)));
        assert.ok(prefillers.map(addressOf).includes(headers[PREFILLER] ?? ""), JSON.stringify(headers));
        assert.ok(body === undefined || body === chat(LONG), "the body is the client's");
        // Booked at both until its first byte.
        assert.equal(outstanding(epp.router).inFlight, 2);
        await served(epp, call, destination.split(",")[0]!);
        assert.equal(last?.prefill?.end, "transferred");
        assert.equal(last?.prefill?.transfer, "side-car");
      });

  it("is not told of where the decider says no, and a client can't name one", async () => {
    const { client, epp } = await start();
    const call = new GatewayCall(client, { body: chat("Hello?") });
    const { destination = "", headers, status } = await call.ask();
    assert.equal(status, 0);
    assert.equal(headers[PREFILLER], undefined);
    await served(epp, call, destination.split(",")[0]!);
    for (const name of [PREFILLER, "X-Prefiller-Host-Port"]) {
      const posing = new GatewayCall(client, { body: chat("Hello?"), headers: { [name.toLowerCase()]: "10.0.0.1:80" } });
      const { status: refused, body } = await posing.ask();
      assert.equal(refused, 400);
      assert.match(body ?? "", /x-prefiller-host-port/);
      posing.call.end();
    }
  });

  it("is counted where the gateway shows no more than a head, and where the answer is a stream or an error", async () => {
    const { epp, client } = await start({ transfer: "nixl" });
    let asked = 0;
    const begin = async (more: object = {}) => {
      asked += 1;
      const call = new GatewayCall(client, { body: chat(`${asked} ${LONG}`), ...more });
      const { destination = "" } = await call.ask();
      return { call, served: servedMetadata(destination.split(",")[0]!) };
    };
    const idle = () => waitUntil(() => outstanding(epp.router).inFlight === 0 && outstanding(epp.router).prefillTokens === 0);

    const hidden = await begin({ responseMode: 0 });
    hidden.call.responseHead({ "content-type": "application/json" }, hidden.served);
    await hidden.call.next();
    hidden.call.call.end();
    await idle();
    assert.equal(last?.prefill?.end, "transferred");

    const stream = await begin();
    stream.call.responseHead({ "content-type": "text/event-stream" }, stream.served);
    await stream.call.next();
    stream.call.responseBody('data: {"choices":[{"index":0,"delta":{"content":"Yes."}}]}\n\n', false);
    // The prompt's endpoint is done with it; the answer's is not.
    await waitUntil(() => outstanding(epp.router).inFlight === 1);
    stream.call.responseBody("data: [DONE]\n\n", true);
    await stream.call.passedBody();
    stream.call.call.end();
    await idle();
    assert.deepEqual([last?.prefill?.end, last?.prefill?.transferMs], ["transferred", Number.NaN]);

    const error = await begin();
    error.call.responseHead({ ":status": "500", "content-type": "application/json" }, error.served);
    await error.call.next();
    error.call.responseBody("{}", true);
    await error.call.passedBody();
    error.call.call.end();
    await idle();
    assert.notEqual(last?.prefill?.end, "transferred");
  });

  it("served by the second of the list is a pair all the same", async () => {
    const { epp, client } = await start();
    const call = new GatewayCall(client, { body: chat(LONG) });
    const { destination = "" } = await call.ask();
    await served(epp, call, destination.split(",")[1]!);
    assert.equal(last?.prefill?.end, "transferred");
  });

  it("gives everything back when the gateway leaves", async () => {
    const { epp, client } = await start();
    const call = new GatewayCall(client, { body: chat(LONG) });
    await call.ask();
    call.call.reset();
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && outstanding(epp.router).prefillTokens === 0);
  });

  it("is made only of endpoints that the gateway may use", async () => {
    const { epp, client } = await start();
    const only = new GatewayCall(client, { body: chat(LONG), subset: [...decoders, prefillers[1]!].map(addressOf) });
    const { headers, destination = "" } = await only.ask();
    assert.equal(headers[PREFILLER], addressOf(prefillers[1]!));
    await served(epp, only, destination.split(",")[0]!);
    const none = new GatewayCall(client, { body: chat(LONG), subset: decoders.map(addressOf) });
    const alone = await none.ask();
    assert.equal(alone.headers[PREFILLER], undefined);
    await served(epp, none, alone.destination!.split(",")[0]!);
  });

  describe("a real Envoy", { skip: !HAS_ENVOY }, () => {
    let envoy: EnvoyProcess;
    let epp: TestEpp;
    before(async () => {
      ({ epp } = await start({ fallbacks: 0 }));
      // With a length, because a scripted replica reads no chunks.
      envoy = await startEnvoy({ pickerPort: epp.port, modes: ["BUFFERED", "STREAMED"] });
    });
    after(() => envoy?.stop());

    it("sends the header on to the answer's endpoint, and nothing to the prompt's", async () => {
      const before = prefillers.map(({ requests }) => requests.length);
      const post = (content: string) =>
        fetch(`${envoy.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: chat(content),
        });
      const response = await post(LONG);
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal(await response.text(), ANSWER);
      const got = () => decoders.flatMap(({ requests }) => requests).find(({ body }) => body.includes(chat(LONG)));
      assert.ok(prefillers.map(addressOf).includes(got()?.headers.get(PREFILLER) ?? ""), got()?.head);
      assert.equal(await (await post("Again?")).text(), ANSWER);
      const short = decoders.flatMap(({ requests }) => requests).find(({ body }) => body.includes(chat("Again?")));
      assert.equal(short?.headers.get(PREFILLER), undefined);
      assert.deepEqual(
        prefillers.map(({ requests }) => requests.length),
        before,
      );
      await waitUntil(() => outstanding(epp.router).inFlight === 0 && last !== undefined && last.prefill === undefined);
    });
  });
});

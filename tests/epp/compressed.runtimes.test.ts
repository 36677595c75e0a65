/** Bodies that clients have compressed, behind a gateway: they are read for the decision, and go on as they came where they can. */
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { CODINGS, randomText } from "../support/compressed.ts";
import { HAS_ENVOY, startEnvoy } from "../support/envoy.ts";
import { BUFFERED, GatewayCall, startTestEpp, type TestEpp } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { CHAT, chatBody } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: alias } } ]
      targets: [ { modelRewrite: m } ]
`;
const TEXT = chatBody(`,"more":"${randomText(300_000)}"`);
const ALIAS_TEXT = TEXT.replace('"m"', '"alias"');

describe("a compressed body behind a gateway", () => {
  let replica: ScriptedReplica;
  let epp: TestEpp;
  let client: GrpcClient;
  before(async () => {
    replica = await startScriptedReplica(() => {});
    epp = await startTestEpp([replica.url], { documents: REWRITE });
    client = new GrpcClient(epp.port, { heedsCalls: true });
  });
  after(async () => {
    client.close();
    await epp.close();
    await replica.close();
  });

  const settled = () => waitUntil(() => outstanding(epp.router).inFlight === 0 && epp.router.gate.memory.bodyBytes === 0);

  const ask = (coding: string, body: Uint8Array, requestMode: number | undefined) =>
    new GatewayCall(client, {
      body,
      headers: { "content-encoding": coding },
      ...(requestMode !== undefined && { requestMode }),
    });

  for (const [mode, requestMode] of [
    ["streamed", undefined],
    ["buffered", BUFFERED],
  ] as const) {
    for (const [coding, compress] of CODINGS) {
      it(`goes on as it came where nothing is written into it (${coding}, ${mode})`, async () => {
        const body = compress(Buffer.from(TEXT));
        const call = ask(coding, body, requestMode);
        const { status, destination, headers, removed, bytes } = await call.ask();
        assert.equal(status, 0);
        assert.ok(destination);
        // A gateway that has sent the whole body keeps it.
        assert.deepEqual(bytes, requestMode === BUFFERED ? undefined : body);
        assert.equal(removed.includes("content-encoding"), false);
        assert.equal(headers["content-encoding"], undefined);
        assert.equal(headers["content-length"], String(body.length));
        call.call.reset();
        await settled();
      });

      it(`is plain where the model's name is written into it (${coding}, ${mode})`, async () => {
        const call = ask(coding, compress(Buffer.from(ALIAS_TEXT)), requestMode);
        const { headers, removed, body } = await call.ask();
        assert.equal(body, TEXT);
        assert.ok(removed.includes("content-encoding"));
        assert.equal(headers["content-length"], String(TEXT.length));
        call.call.reset();
        await settled();
      });
    }

    const refused: readonly (readonly [name: string, coding: string, body: Uint8Array, status: number])[] = [
      ["another coding", "deflate", gzipSync(TEXT), 415],
      ["what is no gzip", "gzip", Buffer.from(TEXT), 400],
      ["a bomb", "gzip", gzipSync(Buffer.alloc(8 * 1024 * 1024, " ")), 413],
    ];
    for (const [name, coding, body, status] of refused) {
      it(`is refused where it is ${name} (${mode})`, async () => {
        const call = ask(coding, body, requestMode);
        assert.equal((await call.ask()).status, status);
        call.call.reset();
        await settled();
      });
    }
  }

  it("leaves nothing behind when its client goes", async () => {
    const body = gzipSync(TEXT);
    const call = new GatewayCall(client, { body, headers: { "content-encoding": "gzip" } });
    call.head();
    call.say({ request_body: { body: body.subarray(0, body.length / 2), end_of_stream: false } });
    await waitUntil(() => epp.router.gate.memory.bodyBytes > 0);
    call.call.reset();
    await settled();
  });
});

describe("a compressed body behind a real Envoy", { skip: !HAS_ENVOY }, () => {
  for (const modes of [undefined, ["BUFFERED", "STREAMED"]] as const) {
    it(`reaches the replica as it came, or plain where it is rewritten (${modes?.[0] ?? "streamed"})`, async () => {
      const replica = await startHttpReplica();
      const epp = await startTestEpp([replica.url], { documents: REWRITE });
      const envoy = await startEnvoy({ pickerPort: epp.port, ...(modes !== undefined && { modes }) });
      try {
        for (const text of [TEXT, ALIAS_TEXT]) {
          const body = gzipSync(text);
          const headers = { "content-type": "application/json", "content-encoding": "gzip" };
          const response = await fetch(`${envoy.url}${CHAT}`, { method: "POST", headers, body });
          assert.equal(response.status, 200, await response.text());
          const got = replica.last()!;
          assert.deepEqual(got.body, text === TEXT ? body : Buffer.from(TEXT));
          assert.equal(got.headers["content-encoding"], text === TEXT ? "gzip" : undefined);
        }
      } finally {
        await envoy.stop();
        await epp.close();
        await replica.close();
      }
    });
  }
});

/** Envoy streams bodies in chunks, which scripted replicas don't read. */
async function startHttpReplica() {
  let last: { readonly headers: IncomingHttpHeaders; readonly body: Buffer } | undefined;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") return void response.end('{"object":"list","data":[{"id":"m","object":"model"}]}');
    last = { headers: request.headers, body };
    response.end('{"choices":[{"message":{"role":"assistant","content":"Hi"}}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    last: () => last,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

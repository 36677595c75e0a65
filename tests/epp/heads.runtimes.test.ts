import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { GatewayCall, startTestEpp, type TestEpp } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const CHAT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });

describe("heads that a gateway tells of", () => {
  let replica: ScriptedReplica;
  let epp: TestEpp;
  let client: GrpcClient;
  before(async () => {
    replica = await startScriptedReplica(() => {});
    epp = await startTestEpp([replica.url]);
    client = new GrpcClient(epp.port);
  });
  after(async () => {
    client.close();
    await epp.close();
    await replica.close();
  });

  /** What becomes of a request with one header more: the status of an immediate response; 0 where it is to be sent on. */
  async function statusWith(key: string, value: { readonly value?: string; readonly raw_value?: Uint8Array }): Promise<number> {
    const raw = (text: string) => ({ raw_value: Buffer.from(text) });
    const headers = [
      ...[
        { key: ":method", ...raw("POST") },
        { key: ":path", ...raw("/v1/chat/completions") },
      ].filter((header) => header.key !== key),
      ...[
        { key: ":authority", ...raw("gateway") },
        { key: "content-type", ...raw("application/json") },
      ],
    ];
    const call = new GatewayCall(client, { body: CHAT });
    call.say({ request_headers: { headers: { headers: [...headers, { key, ...value }] }, end_of_stream: false } });
    call.body();
    const { immediate_response } = await call.next();
    call.call.reset();
    await waitUntil(() => outstanding(epp.router).inFlight === 0);
    return immediate_response?.status?.code ?? 0;
  }

  for (const [what, key, value, status] of [
    ["a value that ends its line", "x-a", { raw_value: Buffer.from("1\r\nauthorization: Bearer other") }, 400],
    ["a value with a line feed", "x-a", { raw_value: Buffer.from("1\nx-b: 2") }, 400],
    ["a value that ends the head", "x-a", { value: "1\r\n\r\n" }, 400],
    ["a value with an end of text", "x-a", { raw_value: Buffer.from([0x31, 0]) }, 400],
    ["a name that has a value", "authorization:Bearer other", { value: "1" }, 400],
    ["a name that ends its line", "x-a\r\nx-b", { value: "1" }, 400],
    ["no name", "", { value: "1" }, 400],
    ["a path that is two lines", ":path", { value: "/v1/chat/completions HTTP/1.1\r\nx-b: 1" }, 400],
    ["a path with a blank", ":path", { value: "/v1/chat/completions HTTP/1.1" }, 400],
    // Each of them is a line break, where only its last byte is looked at.
    ["letters that are longer than a byte", "x-a", { value: "1\u010d\u010a: 2" }, 0],
    ["letters as bytes", "x-a", { raw_value: Buffer.from("ä") }, 0],
  ] as const) {
    it(`${status === 0 ? "passes" : "refuses"} ${what}`, async () => assert.equal(await statusWith(key, value), status));
  }

  it("answers 502 for a response with a header that is two", async () => {
    const call = new GatewayCall(client, { body: CHAT });
    await call.ask();
    call.responseHead({ "x-a": "1\r\nset-cookie: other" });
    assert.equal((await call.next()).immediate_response?.status?.code, 502);
    await waitUntil(() => outstanding(epp.router).inFlight === 0);
  });
});

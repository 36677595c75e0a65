/** Conversations where requests come otherwise than on sockets: by the fetch face, and from a gateway. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { inTurn, ON, RESPONSES, responseOf, said, streamOf, user } from "../support/conversations.ts";
import { postRequest, setUpFetch } from "../support/fetch-router.ts";
import { BUFFERED, GatewayCall, startEppWithClients } from "../support/gateway.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { STREAM_HEAD } from "../support/scripted-replica.ts";

const SECOND = '{"model":"m","input":"two","previous_response_id":"resp_1"}';
const REPLAYED = `{"model":"m","input":[${user("one")},${said("1")},${user("two")}]}`;

describe("a conversation by the fetch face", () => {
  for (const stream of ["", ',"stream":true'])
    it(`goes on ${stream === "" ? "whole" : "in a stream"}`, async () => {
      const { router, replica } = await setUpFetch(inTurn(), { spec: ON });
      const first = await router.fetch(postRequest(RESPONSES, `{"model":"m","input":"one"${stream}}`));
      await first.text();
      const second = await router.fetch(postRequest(RESPONSES, SECOND));
      assert.equal(second.status, 200, await second.text());
      assert.equal(replica.requests[1]!.body.toString(), REPLAYED);
    });
});

describe("a conversation behind a gateway", () => {
  for (const [name, requestMode] of [
    ["streams", undefined],
    ["whole bodies", BUFFERED],
  ] as const)
    it(`goes on, with ${name} as requests`, async () => {
      const epp = await startEppWithClients(ON);
      after(() => epp.close());
      const client = epp.connected();
      const mode = requestMode === undefined ? {} : { requestMode };
      const first = new GatewayCall(client, { path: RESPONSES, body: '{"model":"m","input":"one","stream":true}', ...mode });
      assert.equal((await first.ask()).status, 0);
      first.responseHead({ "content-type": "text/event-stream" });
      await first.next();
      const events = streamOf("resp_1", `[${said("1")}]`)
        .slice(STREAM_HEAD.length)
        .split("\r\n")
        .filter((_, index) => index % 2 === 1)
        .join("");
      first.responseBody(events, true);
      assert.equal(await first.passedBody(), events);
      const second = new GatewayCall(client, { path: RESPONSES, body: SECOND, ...mode });
      const { body, headers } = await second.ask();
      assert.equal(body, REPLAYED);
      assert.equal(headers["content-length"], String(REPLAYED.length));
      second.responseHead({ "content-type": "application/json" });
      await second.next();
      second.responseBody(responseOf("resp_2", "[]"), true);
      await second.passedBody();
      const unknown = new GatewayCall(client, { path: RESPONSES, body: SECOND.replace("resp_1", "resp_9"), ...mode });
      const refused = await unknown.ask();
      assert.deepEqual([refused.status, refused.body?.includes("previous_response_not_found")], [404, true]);
      await waitUntil(() => outstanding(epp.router).inFlight === 0);
    });
});

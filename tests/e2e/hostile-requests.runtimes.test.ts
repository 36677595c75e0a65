/** Requests that are well framed and hostile all the same: headers that steer or forge, expectations, upgrades. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { REQUEST_RULES } from "../../core/wire/request-headers.ts";
import { chatRequest, exchangeCleanly } from "../support/clean-exchange.ts";
import { headerOf } from "../support/clean-request.ts";
import { MemoryRouter } from "../support/memory-router.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { singles } from "../support/wire-transcript.ts";
import { BODY, CHAT } from "./smuggling-rows.ts";

const JSON_TYPE = "Content-Type: application/json";

let replica: ScriptedReplica;
let router: TestRouter;
before(async () => {
  replica = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
  );
  router = await startTestRouter([replica.url]);
});
after(async () => {
  await router.close();
  await replica.close();
});

const send = (lines: readonly string[]) => exchangeCleanly(router, replica, chatRequest(lines, BODY));

describe("headers by which a client could choose the replica, or pose as a proxy", () => {
  const names = [
    ...REQUEST_RULES.filter(({ fate }) => fate === "dropped")
      .flatMap((rule) => rule.names.map((name) => name.replace("*", "a")))
      .filter((name) => !/^(connection|transfer-encoding|expect)$/.test(name)),
    ...["x-gateway-model-name", "X-Gateway-Destination-Endpoint-Subset", "X-SIGNALBOX-TARGET", "x-envoy-decorator-operation"],
    ...[
      "keep-alive",
      "te",
      "trailer",
      "upgrade",
      "x_forwarded_for",
      "X_Gateway_Destination_Endpoint",
      "content_length",
      "__proto__",
    ],
  ];
  for (const name of names) {
    it(`${name} reaches no replica`, async () => {
      const { answer, received } = await send([JSON_TYPE, `${name}: 6.6.6.6:666`]);
      assert.equal(answer.status, 200);
      assert.equal(received.length, 1);
      assert.equal(headerOf(received[0]!, name.toLowerCase()), undefined);
      assert.ok(!JSON.stringify(received[0]!.headers).includes("6.6.6.6"));
      assert.equal(received[0]!.target, CHAT);
    });
  }
  for (const name of ["constructor", "toString", "hasOwnProperty", "x-api-key", "authorization"]) {
    it(`${name} is a header like any other`, async () => {
      const { received } = await send([JSON_TYPE, `${name}: 1`]);
      assert.equal(headerOf(received[0]!, name.toLowerCase()), "1");
    });
  }

  it("x-forwarded-for is the peer, whatever the client says", async () => {
    const { received } = await send([JSON_TYPE, "X-Forwarded-For: 6.6.6.6", "x-forwarded-for: 7.7.7.7, 8.8.8.8"]);
    assert.equal(headerOf(received[0]!, "x-forwarded-for"), "127.0.0.1");
  });

  for (const [mode, expected] of [
    ["append", "6.6.6.6, 7.7.7.7, 127.0.0.1"],
    ["replace", "127.0.0.1"],
    ["drop", undefined],
  ] as const) {
    it(`x-forwarded-for is ${expected ?? "nothing"} where the config says ${mode}`, async () => {
      const other = await startTestRouter([replica.url], { spec: `  forwardedFor: ${mode}` });
      try {
        const lines = [JSON_TYPE, "X-Forwarded-For: 6.6.6.6", "X-Real-IP: 8.8.8.8", "x-forwarded-for: 7.7.7.7", "X-Kept: 1"];
        const { received } = await exchangeCleanly(other, replica, chatRequest(lines, BODY));
        assert.deepEqual(
          received[0]!.headers.filter(([name]) => name !== "host" && name !== "x-request-id"),
          [
            ["content-type", "application/json"],
            ["x-kept", "1"],
            ["accept-encoding", "identity"],
            ...(expected === undefined ? [] : [["x-forwarded-for", expected]]),
            ["content-length", String(BODY.length)],
          ],
        );
      } finally {
        await other.close();
      }
    });
  }

  for (const id of ["x".repeat(65), "y".repeat(2000), "a b", "a/b", "", "é", "a,b", ".", ".."]) {
    it(`the request id ${JSON.stringify(id.slice(0, 20))} of ${id.length} characters is replaced`, async () => {
      const { answer, received } = await send([JSON_TYPE, `X-Request-Id: ${id}`]);
      const used = headerOf(received[0]!, "x-request-id")!;
      assert.match(used, /^req-[a-z0-9]+-[a-z0-9]+$/);
      assert.match(answer.head, new RegExp(`^x-request-id: ${used}$`, "m"));
    });
  }

  it("two request ids are none", async () => {
    const { received } = await send([JSON_TYPE, "X-Request-Id: a", "X-Request-Id: b"]);
    assert.match(headerOf(received[0]!, "x-request-id")!, /^req-/);
  });

  it("what Connection names ends here, and what must not be named is refused", async () => {
    const { received } = await send([JSON_TYPE, "Connection: keep-alive, x-secret", "X-Secret: 1", "X-Kept: 2"]);
    assert.equal(headerOf(received[0]!, "x-secret"), undefined);
    assert.equal(headerOf(received[0]!, "x-kept"), "2");
    for (const name of ["authorization", "Content-Type", "host", "x-api-key", "cookie", "expect", "a b", "(a)"]) {
      const refused = await send([JSON_TYPE, `Connection: ${name}`]);
      assert.equal(refused.answer.status, 400, name);
      assert.equal(refused.received.length, 0);
    }
  });
});

describe("expectations and upgrades", () => {
  const rows: readonly {
    name: string;
    lines: readonly string[];
    statuses: readonly number[];
    isAsked?: boolean;
    version?: string;
  }[] = [
    { name: "Expect: 100-continue", lines: ["Expect: 100-continue"], statuses: [200], isAsked: true },
    { name: "Expect: 100-CONTINUE", lines: ["Expect: 100-CONTINUE"], statuses: [200], isAsked: true },
    { name: "Expect in HTTP/1.0", lines: ["Expect: 100-continue"], statuses: [200], version: "1.0" },
    { name: "Expect: a miracle", lines: ["Expect: a miracle"], statuses: [417] },
    { name: "Expect twice", lines: ["Expect: 100-continue", "Expect: 100-continue"], statuses: [417] },
    { name: "an empty Expect", lines: ["Expect:"], statuses: [417] },
    {
      name: "Upgrade: h2c",
      lines: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"],
      statuses: [200],
    },
    {
      name: "Upgrade: websocket",
      lines: ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZQ=="],
      statuses: [200],
    },
    { name: "TE: trailers", lines: ["TE: trailers, deflate"], statuses: [200] },
  ];
  for (const { name, lines, statuses, isAsked = false, version = "1.1" } of rows) {
    it(name, async () => {
      const bytes = Buffer.from(
        chatRequest([JSON_TYPE, ...lines], BODY)
          .toString("latin1")
          .replace("HTTP/1.1", `HTTP/${version}`),
        "latin1",
      );
      const memory = new MemoryRouter(router);
      for (const pieces of [[bytes], singles(bytes)]) {
        const { received, requests } = await memory.exchange(pieces);
        assert.equal(received.startsWith("HTTP/1.1 100 Continue\r\n\r\n"), isAsked);
        assert.deepEqual(
          answersIn(received).map(({ status }) => status),
          statuses,
        );
        assert.deepEqual(
          requests.map(({ body }) => body.toString()),
          statuses[0] === 200 ? [BODY] : [],
        );
      }
    });
  }
});

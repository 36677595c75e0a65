import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { openClient, postBytes } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { CHAT, event, setUp } from "../support/scripted-pool.ts";
import { chunkOf, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

/** What the replica does after its first event, and what that is called. */
const breaks: readonly (readonly [name: string, finish: (socket: Socket) => void, code: string])[] = [
  ["goes silent", () => {}, "upstream_timeout"],
  ["sends no chunk", (socket) => void socket.write("zz\r\n"), "upstream_invalid"],
  ["ends it", (socket) => void socket.end(), "upstream_reset"],
];
const apis: readonly (readonly [path: string, body: string])[] = [
  [CHAT, '{"model":"m","messages":[],"stream":true}'],
  ["/v1/messages", '{"model":"m","messages":[],"stream":true,"max_tokens":5}'],
  ["/v1/responses", '{"model":"m","input":"x","stream":true}'],
];

describe("a replica that has begun a stream and then", () => {
  for (const [name, finish, code] of breaks) {
    for (const [path, body] of apis) {
      it(`${name}: ${code}, for the client of ${path} and for the operator`, async () => {
        const { router } = await setUp(
          [
            (_request, socket) => {
              socket.write(STREAM_HEAD + chunkOf(event(1)));
              finish(socket);
            },
          ],
          { spec: "  limits: { streamIdleTimeoutMs: 200 }" },
        );
        const client = await openClient(router.port);
        client.send(postBytes(path, body));
        const answer = wholeAnswer(await client.closed());
        const lastEvent = answer.body.slice(event(1).length);
        assert.match(lastEvent, new RegExp(`"code":"${code}"`));
        await waitUntil(() => router.log.length === 1);
        const { status, ending, error } = router.log[0]!;
        assert.deepEqual({ status, ending, error }, { status: 200, ending: "broken", error: code });
      });
    }
  }
});

/** Pairs whose endpoints do all kinds of things, and clients that leave: nothing is left, and no transfer is sent twice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { collectedLog } from "../support/collected-log.ts";
import {
  answerDecode,
  assertAtRest,
  beginPair,
  bodiesOf,
  chatOf,
  DECODED_STREAM,
  pairPool,
  prefilled,
} from "../support/pair-pool.ts";
import { exchange, isWholeAnswer, postBytes } from "../support/raw-client.ts";
import { CHAT, STREAM } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

const REQUESTS = 240;
const AT_ONCE = 8;

/** What an endpoint may do in place of its answer. */
const WRONGS: readonly Script[] = [
  (_request, socket) => void socket.write(jsonAnswer("{}", "500 Internal Server Error")),
  (_request, socket) => void socket.write(jsonAnswer("{}", "503 Service Unavailable")),
  (_request, socket) => void socket.write(jsonAnswer('{"error":{"message":"no"}}', "400 Bad Request")),
  (_request, socket) => socket.resetAndDestroy(),
  (_request, socket) => void socket.end(),
  (_request, socket) => void socket.end(STREAM_HEAD),
  (_request, socket) => void socket.end(jsonAnswer("{}").slice(0, -1)),
  (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"message":{"content":"x"}}],"kv_transfer_params":null}')),
  (_request, socket) => void socket.end("not HTTP\r\n\r\n"),
];
const NO_ANSWER = /^$/;

for (const transfer of ["nixl", "side-car", "sglang"]) {
  describe(transfer, () => {
    it(`${REQUESTS} requests, a third of whose tries go wrong`, { timeout: 120_000 }, async () => {
      const random = seededRandom(7);
      let promised = 0;
      const wrong =
        (answer: Script): Script =>
        (request, socket) => {
          const drawn = random();
          if (drawn < 0.3) WRONGS[Math.floor(random() * WRONGS.length)]!(request, socket);
          // It hangs.
          else if (drawn < 0.33) return;
          else if (drawn < 0.66) setImmediate(() => answer(request, socket));
          else answer(request, socket);
        };
      const prompt = wrong((_request, socket) => void socket.write(prefilled(`{"do_remote_prefill": true,"n":${promised++}}`)));
      const half: Script = (request, socket) => {
        if (random() < 0.1) socket.write(DECODED_STREAM.slice(0, 250), () => socket.destroy());
        else answerDecode(request, socket);
      };
      const log = collectedLog();
      const pool = await pairPool({
        ...{ prefill: [prompt, prompt, prompt], decode: [wrong(half), wrong(half), wrong(half)] },
        pairs: `decider: always, transfer: ${transfer}, prefillTimeoutMs: 100`,
        spec: "  limits: { responseTimeoutMs: 1s }\n  ejection: false\n",
        operatorLog: log,
      });
      const answers: string[] = [];
      const clients = Array.from({ length: AT_ONCE }, async (_, client) => {
        for (let n = client; n < REQUESTS; n += AT_ONCE) {
          const leaves = random() < 0.2;
          const begun = await beginPair(pool, random() < 0.5 ? STREAM : "");
          if (leaves) for (let turn = 0; turn < n % 7; turn++) await new Promise(setImmediate);
          else answers.push(await begun.until(isWholeAnswer));
          begun.destroy();
        }
      });
      await Promise.all(clients);
      await assertAtRest(pool);
      assert.deepEqual(
        answers.filter((answer) => NO_ANSWER.test(answer)),
        [],
      );
      assert.deepEqual(
        log.lines.filter((line) => /inside the router|plugin/.test(line)),
        [],
      );
      const key = transfer === "nixl" ? /"do_remote_prefill": true,"n":(\d+)/ : /"bootstrap_room":(\d+)/;
      const sent = pool.decode.flatMap(bodiesOf).flatMap((body) => key.exec(body)?.[1] ?? []);
      assert.equal(new Set(sent).size, sent.length);
      const { paired, failed } = pool.pairs();
      assert.ok(paired > REQUESTS / 5, `${paired} pairs`);
      // Where two meet, another pair follows.
      assert.ok(failed > 0 || transfer === "sglang");
      const isServed = async () => (await exchange(pool.router.port, postBytes(CHAT, chatOf()))).startsWith("HTTP/1.1 200");
      let isGood = await isServed();
      for (let n = 0; n < 20 && !isGood; n++) isGood = await isServed();
      assert.ok(isGood);
      await assertAtRest(pool);
    });
  });
}

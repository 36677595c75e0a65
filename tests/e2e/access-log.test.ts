import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHAT, postRequest, setUpFetch } from "../support/fetch-router.ts";
import { exchange } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { chatBody, chatPost, event, OK, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

type Line = Readonly<Record<string, unknown>>;

const stream: Script = (_request, socket) => {
  const token = 'data: {"choices":[{"index":0,"text":"a"}]}\n\n';
  socket.write(`${STREAM_HEAD}${chunkOf(token)}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`);
};
const lies: Script = (_request, socket) => void socket.write(jsonAnswer('{"error":{"message":"out of memory"}}'));
const breaks: Script = (_request, socket) => {
  socket.write(STREAM_HEAD + chunkOf(event(1)), () => socket.destroy());
};
const refuses: Script = (_request, socket) => void socket.write(jsonAnswer("{}", "503 Busy"));
const closes: Script = (_request, socket) => void socket.destroy();

/** The line that matters of each. */
const cases: readonly (readonly [name: string, script: Script, extra: string, line: Line])[] = [
  ["a response", (_request, socket) => void socket.write(OK), "", { status: 200, ending: "complete", flags: "", stream: false }],
  ["a stream that reports nothing", stream, STREAM, { status: 200, outputTokens: 1, outputEstimated: true, flags: "" }],
  ["an error with status 200", lies, "", { status: 200, ending: "complete", flags: "UM", error: "" }],
  ["a stream that breaks off", breaks, STREAM, { status: 200, ending: "broken", flags: "UC", error: "upstream_reset" }],
  ["a replica that closes", closes, "", { status: 502, ending: "complete", flags: "UC", error: "upstream_reset" }],
  ["a replica that is busy", refuses, "", { status: 503, ending: "complete", flags: "", error: "" }],
];

describe("an access line of both hosts: probes have none", () => {
  for (const [name, script, extra, expected] of cases) {
    it(name, async () => {
      const { router } = await setUp([script]);
      for (const path of ["/health", "/ready"]) await exchange(router.port, `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
      await exchange(router.port, chatPost(extra));
      await waitUntil(() => router.log.length > 0);
      check(router.log as unknown as readonly Line[], expected);

      const { router: face } = await setUpFetch(script);
      for (const path of ["/health", "/ready"]) await face.fetch(new Request(`http://router${path}`));
      const response = await face.fetch(postRequest(CHAT, chatBody(extra)));
      await response.text().catch(() => "");
      await waitUntil(() => face.log.length > 0);
      check(face.log as unknown as readonly Line[], expected);
    });
  }
});

function check(lines: readonly Line[], expected: Line): void {
  assert.equal(lines.length, 1);
  const [line = {}] = lines;
  assert.deepEqual({ ...line, ...expected }, line);
  const { overheadUs, attempts, durationMs } = line as { overheadUs: number; attempts: Line[]; durationMs: number };
  assert.ok(Number.isInteger(overheadUs) && overheadUs >= 0 && overheadUs <= durationMs * 1000 + 100, `${overheadUs}`);
  const [attempt] = attempts as unknown as { startedMs: number; endedMs: number }[];
  assert.ok(attempt!.startedMs <= attempt!.endedMs && attempt!.endedMs <= durationMs + 0.1);
}

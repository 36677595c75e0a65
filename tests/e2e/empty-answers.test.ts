import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, postBytes } from "../support/raw-client.ts";
import type { TestRouter } from "../support/router.ts";
import { sampled } from "../support/sample.ts";
import { CHAT, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
const COMPLETIONS = "/v1/completions";
const REQUESTS = 400;
const AT_ONCE = 8;
const MOST_SHARE = 0.04;
const ANSWER_MS = 10;
const DONE = "data: [DONE]\n\n";

const says =
  (answer: string, afterMs = 0): Script =>
  (_request, socket) => {
    if (afterMs === 0) socket.write(answer);
    else setTimeout(() => socket.write(answer), afterMs);
  };
const events = (...texts: readonly string[]) => `${STREAM_HEAD}${texts.map(chunkOf).join("")}${LAST_CHUNK}`;
const choice = (delta: string, reason: string) =>
  `data: {"choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`;
const typed = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`;
const message = (content: string, reason: string, usage = "") =>
  jsonAnswer(`{"choices":[{"index":0,"message":{"role":"assistant","content":${content}},"finish_reason":${reason}}]${usage}}`);
const ROLE = choice('{"role":"assistant","content":""}', "null");

/** What healthy replicas answer, by path and by whether it is a stream. */
const GOOD: Readonly<Record<string, readonly [document: string, stream: string]>> = {
  [CHAT]: [message('"Hi"', '"stop"'), events(ROLE, choice('{"content":"Hi"}', "null"), choice("{}", '"stop"'), DONE)],
  [COMPLETIONS]: [
    jsonAnswer('{"choices":[{"index":0,"text":"Hi","finish_reason":"stop"}]}'),
    events('data: {"choices":[{"index":0,"text":"Hi","finish_reason":"stop"}]}\n\n', DONE),
  ],
  [MESSAGES]: [
    jsonAnswer('{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}'),
    events(
      typed("message_start", '"message":{"type":"message","content":[],"stop_reason":null}'),
      typed("content_block_delta", '"delta":{"type":"text_delta","text":"Hi"}'),
      typed("message_delta", '"delta":{"stop_reason":"end_turn"}'),
      typed("message_stop", '"index":0'),
    ),
  ],
  [RESPONSES]: [
    jsonAnswer('{"object":"response","status":"completed","output":[{"content":[{"type":"output_text","text":"Hi"}]}]}'),
    events(
      typed("response.created", '"response":{"status":"in_progress","output":[]}'),
      typed("response.output_text.delta", '"delta":"Hi"'),
      typed("response.completed", '"response":{"status":"completed","output":[]}'),
    ),
  ],
};

const answerWell: Script = (request, socket) => {
  const [, path = ""] = request.startLine.split(" ");
  says(GOOD[path]![request.body.includes('"stream":true') ? 1 : 0], ANSWER_MS)(request, socket);
};

const USAGE = ',"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}';

const EMPTY: readonly (readonly [name: string, path: string, answer: string, isStream: boolean])[] = [
  ["an abort", CHAT, message('""', '"abort"'), false],
  ["an error as its reason", CHAT, message('""', '"error"'), false],
  ["a stop", CHAT, message('""', '"stop"'), false],
  ["null", CHAT, message("null", '"stop"'), false],
  ["white space", CHAT, message('" \\n\\n"', '"stop"'), false],
  ["one token that has no text", CHAT, message('""', '"stop"', USAGE), false],
  ["no calls", CHAT, jsonAnswer('{"choices":[{"message":{"content":null,"tool_calls":[]},"finish_reason":"stop"}]}'), false],
  ["a role and [DONE]", CHAT, events(ROLE, DONE), true],
  ["a role and an abort", CHAT, events(ROLE, choice("{}", '"abort"'), DONE), true],
  ["a role and an error as its reason", CHAT, events(choice('{"role":"assistant"}', '"error"'), DONE), true],
  ["many empty deltas", CHAT, events(ROLE, choice('{"content":""}', "null").repeat(60), choice("{}", '"stop"'), DONE), true],
  ["no text", COMPLETIONS, jsonAnswer('{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}'), false],
  ["no text in a stream", COMPLETIONS, events('data: {"choices":[{"text":"","finish_reason":"abort"}]}\n\n', DONE), true],
  ["no blocks", MESSAGES, jsonAnswer('{"type":"message","content":[],"stop_reason":"end_turn"}'), false],
  [
    "a block without text",
    MESSAGES,
    events(
      typed("message_start", '"message":{"type":"message","content":[],"stop_reason":null}'),
      typed("content_block_start", '"content_block":{"type":"text","text":""}'),
      typed("message_delta", '"delta":{"stop_reason":"end_turn"}'),
      typed("message_stop", '"index":0'),
    ),
    true,
  ],
  ["no output", RESPONSES, jsonAnswer('{"object":"response","status":"completed","output":[]}'), false],
  [
    "no output behind long instructions",
    RESPONSES,
    events(
      typed("response.created", `"response":{"status":"in_progress","instructions":"${"be kind, ".repeat(600)}","output":[]}`),
      typed("response.completed", `"response":{"status":"completed","instructions":"${"be kind, ".repeat(600)}","output":[]}`),
    ),
    true,
  ],
];

const postOf = (path: string, index: number, isStream: boolean) => {
  const question = `question ${index}`;
  const messages = `[{"role":"user","content":"${question}"}]`;
  const body = `{"model":"m","stream":${isStream},"max_tokens":9,"messages":${messages},"prompt":"${question}","input":"${question}"}`;
  return postBytes(path, body, "Connection: close\r\n");
};

async function ask(router: TestRouter, path: string, isStream: boolean, requests = REQUESTS): Promise<readonly number[]> {
  let next = 0;
  const statuses: number[] = [];
  const client = async () => {
    while (next < requests) {
      next += 1;
      statuses.push(wholeAnswer(await exchange(router.port, postOf(path, next, isStream))).status);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return statuses;
}

const phases = ({ router }: TestRouter) => router.pool.facts.endpoints.map(({ phase }) => phase);

describe("one of four replicas answers 200 at once, with", () => {
  for (const [name, path, answer, isStream] of sampled(EMPTY)) {
    it(`${path}: ${name}: it gets at most 4 % of ${REQUESTS} requests, and is ejected for it`, async () => {
      const { router, replica } = await setUp([says(answer), answerWell, answerWell, answerWell]);
      const statuses = await ask(router, path, isStream);
      assert.deepEqual([...new Set(statuses)], [200]);
      assert.ok(replica.requests.length <= MOST_SHARE * REQUESTS, `${replica.requests.length} of ${REQUESTS}`);
      assert.deepEqual(phases(router), ["ejected", "ready", "ready", "ready"]);
      assert.match(
        router.router.pool.facts.endpoints[0]!.ejection?.reason ?? "",
        /^\d+ % of its latest answers are empty, 0 % elsewhere$/,
      );
    });
  }
});

describe("no replica is ejected", () => {
  const answer = message('""', '"stop"', USAGE.replace('"completion_tokens":1', '"completion_tokens":0'));
  const rows: readonly (readonly [name: string, scripts: readonly Script[]])[] = [
    ["where all prompts want an empty answer", [says(answer), says(answer), says(answer, ANSWER_MS), says(answer, ANSWER_MS)]],
    ["where there is one, with nobody to compare it with", [says(answer)]],
    [
      "where prompts want an empty answer now and then",
      Array.from(
        { length: 4 },
        (): Script => (request, socket) => {
          if (/question \d*[05]"/.test(request.body.toString())) says(answer)(request, socket);
          else answerWell(request, socket);
        },
      ),
    ],
  ];
  for (const [name, scripts] of rows) {
    it(name, async () => {
      const { router } = await setUp(scripts);
      await ask(router, CHAT, false);
      assert.deepEqual([...new Set(phases(router))], ["ready"]);
    });
  }
});

for (const [isStream, answer] of [
  [false, jsonAnswer('{"object":"response","status":"cancelled","output":[]}')],
  [
    true,
    events(
      typed("response.created", '"response":{"status":"in_progress","output":[]}'),
      typed("response.cancelled", '"response":{"status":"cancelled","output":[]}'),
    ),
  ],
] as const)
  it(`no replica is in doubt for ${isStream ? "streams" : "responses"} that were cancelled before their first token`, async () => {
    const { router } = await setUp([says(answer), answerWell, answerWell], {
      spec: "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n",
    });
    await ask(router, RESPONSES, isStream, 90);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ phase, share }) => [phase, share]),
      Array.from({ length: 3 }, () => ["ready", 1]),
    );
  });

it("an empty answer teaches nothing: neither a prompt in its cache, nor a speed, nor tokens", async () => {
  const usage = '"usage":{"prompt_tokens":90000,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":80000}}';
  const stream = events(ROLE, choice("{}", '"stop"'), `data: {"choices":[],${usage}}\n\n`, DONE);
  const { router } = await setUp([says(stream)], { spec: "  plugins: [ { type: prefix-cache } ]\n" });
  const { pool } = router.router;
  const before = pool.load.at(0).prefillRate(0);
  const content = "a long prompt, ".repeat(2_000);
  for (let n = 0; n < 5; n++)
    await exchange(
      router.port,
      postBytes(CHAT, `{"model":"m","stream":true,"messages":[{"role":"user","content":"${content}"}]}`, "Connection: close\r\n"),
    );
  assert.equal(pool.prefixStats?.slots[0]?.tokens ?? 0, 0);
  assert.equal(pool.load.at(0).prefillRate(0), before);
  assert.equal(pool.tokenScale.factor("chat-completions"), 1);
});

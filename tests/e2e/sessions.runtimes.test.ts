/** Sessions of agents, seen from outside: in the access log, the status and the metrics. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import type { SessionsStatus } from "../../plugins/features/sessions/sessions-status.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import type { AccessLine, TestRouter } from "../support/router.ts";
import { loadTestConfig, waitUntil } from "../support/router.ts";
import { answerOk, CHAT, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";

const ON = "  sessions: {}\n  plugins: [{ type: access-log }]\n";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
/** What all sessions of an agent begin with. */
const INSTRUCTIONS = "You are an agent that writes programs. ".repeat(300);

const say = (role: string, content: string) => ({ role, content });
const chat = (...messages: readonly object[]) => JSON.stringify({ model: "m", messages });
const short = (extra: object = {}) => JSON.stringify({ model: "m", messages: [say("user", "hello")], ...extra });

/** Sends it, and returns its line of the access log. */
async function send({ port, log }: TestRouter, path: string, body: string, lines = ""): Promise<AccessLine> {
  const before = log.length;
  const { status } = readAnswer(await exchange(port, postBytes(path, body, lines)));
  assert.equal(status, 200);
  await waitUntil(() => log.length > before);
  return log.at(-1)!;
}

const shown = ({ session, turn }: AccessLine) => [session, turn];

function sessionsOf({ router }: TestRouter): SessionsStatus | null {
  return (router.features.status() as { readonly sessions: SessionsStatus | null }).sessions;
}

describe("ids that clients send", () => {
  const bodies: readonly (readonly [name: string, path: string, lines: string, extra: object, session: string])[] = [
    ["Claude Code", MESSAGES, "x-claude-code-session-id: e01-8b\r\n", {}, "e01-8b"],
    ["a sub-agent of Claude Code", MESSAGES, "x-claude-code-session-id: e01\r\nx-claude-code-agent-id: a364\r\n", {}, "e01/a364"],
    ["Codex", CHAT, "session-id: 01a2\r\nthread-id: 01a2\r\n", { prompt_cache_key: "other" }, "01a2"],
    ["a thread of Codex", CHAT, "session-id: 01a2\r\nthread-id: 01b3\r\n", {}, "01a2/01b3"],
    ["an older Codex", CHAT, "session_id: 99\r\n", {}, "99"],
    ["OpenCode", CHAT, "x-session-affinity: ses_de\r\nx-session-id: ses_de\r\n", {}, "ses_de"],
    ["any client", CHAT, "X-Session-Id: s 1\r\n", {}, "s 1"],
    ["a key of the cache", CHAT, "", { prompt_cache_key: "k\u00e9y" }, "k\u00e9y"],
    ["an escaped key of the cache", CHAT, "", { prompt_cache_key: 'a"b' }, 'a"b'],
    ["a user", MESSAGES, "", { metadata: { user_id: "user-7" } }, "user-7"],
    [
      "a user's id with a session in it",
      MESSAGES,
      "",
      { metadata: { user_id: '{"device_id":"3c","account_uuid":"","session_id":"e01-8b"}' } },
      "e01-8b",
    ],
    [
      "an older user's id with a session in it",
      MESSAGES,
      "",
      { metadata: { user_id: "user_3c_account__session_0123abcd-1" } },
      "0123abcd-1",
    ],
    ["a conversation", CHAT, "", { conversation: "conv_1" }, "conv_1"],
    ["a conversation in an object", CHAT, "", { conversation: { id: "conv_2" } }, "conv_2"],
    ["a response before that nobody knows", CHAT, "", { previous_response_id: "resp_1" }, "resp_1"],
  ];
  for (const [name, path, lines, extra, session] of bodies) {
    it(`are read: ${name}`, async () => {
      const answer = jsonAnswer('{"type":"message","content":[],"choices":[{"message":{}}],"stop_reason":"end_turn"}');
      const { router } = await setUp([(_request, socket) => void socket.write(answer)], { spec: ON });
      assert.deepEqual(shown(await send(router, path, short(extra), lines)), [session, 1]);
      const second = await send(router, path, short(extra), lines);
      assert.deepEqual(shown(second), [session, 2]);
      assert.ok(second.pausedMs !== null && second.pausedMs >= 0);
    });
  }

  it("are none where a value is empty, too long, or not what an id is", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    const values = ["", null, 7, ["a"], { name: "a" }, { id: { id: "a" } }, { id: "x".repeat(5_000) }];
    for (const conversation of values) assert.deepEqual(shown(await send(router, CHAT, short({ conversation }))), ["", null]);
    assert.deepEqual(shown(await send(router, CHAT, short(), "x-session-id: \r\n")), ["", null]);
    assert.equal(sessionsOf(router)?.known, 0);
  });

  it("that are long, or would steer a terminal, are shown short and printable, and told apart all the same", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    const long = "x".repeat(3_000);
    const one = await send(router, CHAT, short(), `x-session-id: ${long}1\r\n`);
    const other = await send(router, CHAT, short(), `x-session-id: ${long}2\r\n`);
    assert.ok(one.session.length <= 128);
    assert.notEqual(one.session, other.session);
    const steering = await send(router, CHAT, short({ prompt_cache_key: "a\u001b[2J\nb" }));
    assert.equal(steering.session, "a?[2J?b");
  });

  it("count for each model alone, and only where a prompt is computed", async () => {
    const { router } = await setUp([answerOk], { spec: ON, models: ["m", "small"] });
    const lines = "session-id: one\r\n";
    assert.equal((await send(router, CHAT, short(), lines)).turn, 1);
    assert.equal((await send(router, CHAT, short({ model: "small" }), lines)).turn, 1);
    assert.equal((await send(router, "/v1/embeddings", '{"model":"m","input":"a"}', lines)).turn, null);
    assert.equal((await send(router, "/v1/messages/count_tokens", short(), lines)).turn, null);
    assert.equal((await send(router, CHAT, short(), lines)).turn, 2);
  });

  it("are looked for where the config says", async () => {
    const spec = ON.replace("{}", "{ headers: [X-Mine], agentHeaders: [], bodyKeys: [agent.run.id] }");
    const { router } = await setUp([answerOk], { spec });
    const lines = "x-mine: 1\r\nsession-id: 2\r\nthread-id: 3\r\n";
    assert.deepEqual(shown(await send(router, CHAT, short(), lines)), ["1", 1]);
    assert.deepEqual(shown(await send(router, CHAT, short({ agent: { run: { id: "r" } } }))), ["r", 1]);
    assert.deepEqual(shown(await send(router, CHAT, short({ prompt_cache_key: "k" }))), ["", null]);
  });
});

describe("responses that name the one before", () => {
  const stored = (id: string, isStream: boolean) => {
    const response = `{"id":"${id}","object":"response","status":"completed","output":[]}`;
    if (!isStream) return jsonAnswer(response);
    const created = `data: {"type":"response.created","response":${response}}\n\n`;
    const done = `data: {"type":"response.completed","response":${response}}\n\n`;
    const body = created + done;
    return `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };

  for (const isStream of [false, true]) {
    it(`are one session, whichever id the turn before had (${isStream ? "streamed" : "whole"})`, async () => {
      let count = 0;
      const { router } = await setUp([(_request, socket) => void socket.write(stored(`resp_${++count}`, isStream))], {
        spec: ON,
      });
      const ask = (before: string) =>
        send(router, RESPONSES, JSON.stringify({ model: "m", input: "go on", stream: isStream, previous_response_id: before }));
      assert.deepEqual(shown(await ask("resp_0")), ["resp_0", 1]);
      assert.deepEqual(shown(await ask("resp_1")), ["resp_0", 2]);
      assert.deepEqual(shown(await ask("resp_2")), ["resp_0", 3]);
      assert.deepEqual(shown(await ask("resp_1")), ["resp_1", 1]);
      assert.equal(sessionsOf(router)?.known, 2);
    });
  }
});

describe("prompts without an id", () => {
  const turns = (first: string, count: number) => {
    const messages = [say("system", INSTRUCTIONS), say("user", first)];
    return Array.from({ length: count }, (_, turn) => {
      if (turn > 0) messages.push(say("assistant", `answer ${turn}`), say("user", `and then, ${turn}?`));
      return chat(...messages);
    });
  };

  it("that begin with a whole other prompt are its next turn", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    const lines: AccessLine[] = [];
    for (const body of turns("Mend the parser.", 4)) lines.push(await send(router, CHAT, body));
    assert.deepEqual(
      lines.map(({ turn }) => turn),
      [1, 2, 3, 4],
    );
    assert.deepEqual(new Set(lines.map(({ session }) => session)), new Set([lines[0]!.id]));
  });

  it("belong to many sessions that begin with the same instructions and differ in a word", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    const all = Array.from({ length: 20 }, (_, index) => turns(`Mend part ${index}.`, 3));
    const names: string[][] = all.map(() => []);
    for (let turn = 0; turn < 3; turn++)
      for (const [index, bodies] of all.entries()) {
        const line = await send(router, CHAT, bodies[turn]!);
        assert.equal(line.turn, turn + 1);
        names[index]!.push(line.session);
      }
    for (const own of names) assert.equal(new Set(own).size, 1);
    assert.equal(new Set(names.flat()).size, all.length);
    assert.equal(sessionsOf(router)?.known, all.length);
  });

  it("branch off where they go on before the end of the last prompt", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    const bodies = turns("Mend the parser.", 3);
    for (const body of bodies) await send(router, CHAT, body);
    const branch = await send(
      router,
      CHAT,
      chat(say("system", INSTRUCTIONS), say("user", "Mend the parser."), say("user", "Look at it.")),
    );
    assert.equal(branch.turn, 1);
    assert.equal(branch.session, branch.id);
  });

  it("that are sent again are the same session, but no turn of one that is under way", async () => {
    const [body] = turns("Mend the parser.", 1);
    const held: (() => void)[] = [];
    const { router } = await setUp([(request, socket) => void held.push(() => answerOk(request, socket))], { spec: ON });
    const both = [0, 1].map(() => exchange(router.port, postBytes(CHAT, body!)));
    await waitUntil(() => held.length === 2);
    for (const release of held) release();
    await Promise.all(both);
    await waitUntil(() => router.log.length === 2);
    assert.deepEqual(
      router.log.map(({ turn }) => turn),
      [1, 1],
    );
    const again = exchange(router.port, postBytes(CHAT, body!));
    await waitUntil(() => held.length === 3);
    held[2]!();
    await again;
    await waitUntil(() => router.log.length === 3);
    assert.equal(router.log[2]!.turn, 2);
  });

  it("are the same session where a client moves its marker of what caches hold", async () => {
    const answer = jsonAnswer('{"type":"message","content":[],"stop_reason":"end_turn"}');
    const { router } = await setUp([(_request, socket) => void socket.write(answer)], { spec: ON });
    const marker = { cache_control: { type: "ephemeral" } };
    const user = (text: string, isMarked: boolean) => ({
      role: "user",
      content: [{ type: "text", text, ...(isMarked && marker) }],
    });
    const system = [{ type: "text", text: INSTRUCTIONS, ...marker }];
    const body = (...messages: readonly object[]) => JSON.stringify({ model: "m", max_tokens: 9, system, messages });
    assert.equal((await send(router, MESSAGES, body(user("One", true)))).turn, 1);
    assert.equal((await send(router, MESSAGES, body(user("One", false), say("assistant", "1"), user("Two", true)))).turn, 2);
    assert.equal((await send(router, MESSAGES, body(user("Other", true)))).turn, 1);
  });

  it("are none where they are short, or the config says so", async () => {
    const { router } = await setUp([answerOk], { spec: ON });
    for (let time = 0; time < 2; time++) assert.deepEqual(shown(await send(router, CHAT, short())), ["", null]);
    const { router: off } = await setUp([answerOk], { spec: ON.replace("{}", "{ byPrompt: false }") });
    for (const body of turns("Mend.", 2)) assert.deepEqual(shown(await send(off, CHAT, body)), ["", null]);
  });
});

describe("what is known of sessions", () => {
  const digest = (key: string) => createHash("sha256").update(key).digest("hex");
  const usage = '"usage":{"prompt_tokens":900,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":700}}';
  const told = jsonAnswer(`{"choices":[{"message":{"content":"Hi"},"finish_reason":"tool_calls"}],${usage}}`);

  it("is who is on which replica, how large and idle since; tenants share no ids", async () => {
    const keys = ["a", "b"].map((name) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)} }`);
    const { router, replica } = await setUp([(_request, socket) => void socket.write(told)], {
      spec: `  auth: { keys: [${keys.join(", ")}] }\n${ON}`,
    });
    for (const key of ["a", "b", "a"]) await send(router, CHAT, short(), `session-id: s\r\nAuthorization: Bearer sk-${key}\r\n`);
    const { known, underWay, max, byEndpoint, latest } = sessionsOf(router)!;
    const { hostname, port } = new URL(replica.url);
    const endpoint = `${hostname}-${port}`;
    assert.deepEqual({ known, underWay, max }, { known: 2, underWay: 0, max: 10_000 });
    assert.deepEqual(byEndpoint, [{ endpoint, sessions: 2, underWay: 0, tokens: 2_000 }]);
    const rows = latest.map(({ idleMs, ...row }) => {
      assert.ok(idleMs >= 0);
      return row;
    });
    const row = { name: "s", model: "m", source: "session-id", underWay: 0, endpoint, tokens: 1_000, cachedTokens: 700 };
    assert.deepEqual(rows, [
      { ...row, tenant: "a", turns: 2 },
      { ...row, tenant: "b", turns: 1 },
    ]);
  });

  it("is null, and nothing in the log, where the config has no sessions", async () => {
    const { router } = await setUp([answerOk], { spec: "  plugins: [{ type: access-log }]\n" });
    const { session, turn, pausedMs } = await send(router, CHAT, short(), "session-id: s\r\n");
    assert.deepEqual({ session, turn, pausedMs }, { session: "", turn: null, pausedMs: null });
    assert.equal(sessionsOf(router), null);
  });

  it("stays bounded where a client opens thousands", async () => {
    const { router } = await setUp([answerOk], { spec: ON.replace("{}", "{ max: 50 }") });
    for (let index = 0; index < 120; index++) await send(router, CHAT, short(), `session-id: s${index}\r\n`);
    assert.equal(sessionsOf(router)?.known, 50);
    assert.equal(sessionsOf(router)?.latest[0]?.name, "s119");
  });

  it("outlives a change of the config, as far as the next one has room for it", async () => {
    const { router, replica } = await setUp([answerOk], { spec: ON });
    const change = async (spec: string) => router.router.replace(await loadTestConfig([replica.url], { spec }));
    for (const id of ["one", "two", "three"]) await send(router, CHAT, short(), `session-id: ${id}\r\n`);
    await change(ON.replace("{}", "{ idleMs: 60000 }"));
    assert.equal((await send(router, CHAT, short(), "session-id: one\r\n")).turn, 2);
    await change(ON.replace("{}", "{ max: 2 }"));
    assert.deepEqual(
      sessionsOf(router)?.latest.map(({ name }) => name),
      ["one", "three"],
    );
    await change(ON.replace("  sessions: {}\n", ""));
    assert.deepEqual(shown(await send(router, CHAT, short(), "session-id: one\r\n")), ["", null]);
    assert.equal(sessionsOf(router), null);
    await change(ON);
    assert.equal((await send(router, CHAT, short(), "session-id: one\r\n")).turn, 1);
  });

  it("counts a turn that no replica served, and a client that leaves", async () => {
    const { router } = await setUp([(_request, socket) => void socket.destroy()], { spec: ON });
    const answer = await exchange(router.port, postBytes(CHAT, short(), "session-id: s\r\n"));
    assert.ok(readAnswer(answer).status >= 500);
    await waitUntil(() => sessionsOf(router)?.underWay === 0);
    const [session] = sessionsOf(router)!.latest;
    assert.deepEqual([session?.turns, session?.endpoint, session?.tokens], [1, "", null]);
  });
});

/** Keys beside another way to show who asks: names that are alike, lines about limits, and clients that leave while they are checked. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import { defineAuthenticator } from "../../core/contract/plugin.ts";
import type { Principal } from "../../core/contract/principal.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, CHAT, chatBody, OK, setUp } from "../support/scripted-pool.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`;
const key = (name: string, limits: string) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, limits: { ${limits} } }`;

/** Lets in everybody, by the name that they say; after "never" it says nothing. */
const says = defineAuthenticator({
  type: "says",
  summary: "Believes everybody.",
  options: z.strictObject({}),
  create: () => ({
    authenticate(credential): Principal | undefined | Promise<Principal> {
      if (credential === "never") return new Promise(() => {});
      if (credential.startsWith("sk-")) return undefined;
      return { name: credential, tenant: credential, priority: 0, models: undefined, limits: { requestsPerMinute: 1 } };
    },
  }),
});
const plugins = [says];
const spec = (keys: string, more = "") =>
  `  auth: { keys: [${keys}]${more} }\n  plugins: [{ type: access-log }, { type: says }]\n`;

async function ask(port: number, credential: string, request = postBytes(CHAT, chatBody(), bearer(credential))) {
  return readAnswer(await exchange(port, request));
}

describe("somebody whose name is that of a key", () => {
  it("has neither the key's account nor its salt, and is somebody else in the log", async () => {
    const { router, replica } = await setUp([answerOk], {
      spec: spec(key("alice", "requestsPerMinute: 1"), ", saltByTenant: true"),
      plugins,
    });
    const asked = ["alice", "sk-alice", "alice", "sk-alice"];
    const statuses: number[] = [];
    for (const credential of asked) statuses.push((await ask(router.port, credential)).status);
    assert.deepEqual(statuses, [200, 200, 429, 429]);
    const salts = replica.requests.map(({ body }) => (JSON.parse(body.toString()) as { cache_salt: string }).cache_salt);
    assert.equal(new Set(salts).size, 2);
    await waitUntil(() => router.log.length === 4);
    const who = router.log.map((line) => line as unknown as Record<string, unknown>).map((line) => [line["key"], line["tenant"]]);
    assert.deepEqual(who.slice(0, 2), [
      ["says:alice", "says:alice"],
      ["alice", "alice"],
    ]);
  });
});

describe("lines about limits", () => {
  const OWN = "x-ratelimit-limit-requests: 7\r\nX-RateLimit-Remaining-Tokens: 8\r\nanthropic-ratelimit-tokens-limit: 9\r\n";
  const answer = (_: unknown, socket: { write(text: string): unknown }) =>
    void socket.write(OK.replace("\r\n", `\r\n${OWN}x-ratelimited: no\r\n`));

  for (const cors of [undefined, '{ origins: ["https://chat.example"] }'])
    it(`are the router's where the key has limits, else the replica's${cors ? ", beside CORS too" : ""}`, async () => {
      const keys = `${key("bounded", "requestsPerMinute: 100")}, ${key("free", "")}`;
      const { router } = await setUp([answer], { spec: spec(keys), plugins, ...(cors && { cors }) });
      const linesOf = async (name: string) => {
        const { head } = await ask(router.port, `sk-${name}`);
        return head.split("\r\n").filter((line) => /ratelimit/i.test(line));
      };
      const [limit, remaining, ...others] = (await linesOf("bounded")).filter((line) => !line.startsWith("x-ratelimited"));
      assert.deepEqual([limit, remaining], ["x-ratelimit-limit-requests: 100", "x-ratelimit-remaining-requests: 99"]);
      assert.deepEqual(others.length, 1);
      assert.deepEqual(await linesOf("free"), [...OWN.split("\r\n").slice(0, 3), "x-ratelimited: no"]);
    });

  it("are in the list of models and in its errors", async () => {
    const { router } = await setUp([answerOk], { spec: spec(key("bounded", "requestsPerMinute: 100")), plugins });
    for (const [path, status] of [
      ["/v1/models", 200],
      ["/v1/models/m", 200],
      ["/v1/models/gone", 404],
      ["/v1/nothing", 404],
    ] as const) {
      const answer = await ask(router.port, "", `GET ${path} HTTP/1.1\r\nHost: x\r\n${bearer("sk-bounded")}\r\n`);
      assert.equal(answer.status, status);
      assert.match(answer.head, /^x-ratelimit-limit-requests: 100\r?$/m, path);
    }
    const open = await ask(router.port, "", "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    assert.doesNotMatch(open.head, /ratelimit/);
  });
});

describe("a client that leaves while it is checked", () => {
  const asks: readonly (readonly [what: string, request: string])[] = [
    ["with its body here", postBytes(CHAT, chatBody(), bearer("never"))],
    ["without a body", `GET /v1/models HTTP/1.1\r\nHost: x\r\n${bearer("never")}\r\n`],
    ["at a path that is not served", postBytes("/v1/nothing", chatBody(), bearer("never"))],
  ];
  for (const [what, request] of asks)
    it(`${what} is noticed at once, not when its time is over`, async () => {
      // Whose time never passes.
      const { router } = await setUp([answerOk], { spec: spec(""), plugins, clock: new FakeClock(), ready: 0 });
      const client = await openClient(router.port);
      client.send(request);
      await waitUntil(() => router.server.connections === 1);
      await new Promise((resolve) => setImmediate(resolve));
      client.destroy();
      await waitUntil(() => router.server.connections === 0);
      await waitUntil(() => router.log.length === 1);
      assert.equal(router.log[0]?.ending, "client-left");
    });
});

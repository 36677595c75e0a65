/** What replicas keep is found again by its id: responses, files, batches, conversations. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { loadTestConfig, readyCount, waitUntil } from "../support/router.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";
import { startStore } from "../support/storing-replica.ts";

interface Answer {
  readonly status: number;
  readonly json: {
    readonly id?: string;
    readonly by?: string;
    readonly rest?: string;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

const NAMES = ["a", "b", "c"];
const keyOf = (tenant: string) => `sk-${tenant}`;
const entry = (tenant: string, more = "") =>
  `      - { name: ${tenant}, sha256: "${createHash("sha256").update(keyOf(tenant)).digest("hex")}"${more} }
`;
const KEYS = `  auth:
    keys:
${entry("one", ", models: [m]")}${entry("two")}`;

async function stores(spec = "", names: readonly string[] = NAMES) {
  const all = names.map(startStore);
  const set = await setUp(
    all.map(({ script }) => script),
    { spec: `  profiles: [{ name: default, plugins: [{ pluginRef: round-robin }] }]\n${spec}` },
  );
  const send = async (
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const isJson = typeof body === "object";
    const response = await fetch(set.router.url + path, {
      method,
      headers: { ...(isJson && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    });
    return { status: response.status, json: (await response.json()) as Answer["json"] };
  };
  const lines = () => set.replicas.flatMap(({ requests }) => requests.map(({ startLine }) => startLine));
  return { ...set, stores: all, send, lines };
}

const ask = (more: object = {}) => ({ model: "m", input: "hi", ...more });

describe("what a replica keeps", () => {
  it("is read, cancelled and deleted where it is, and continued there", async () => {
    const { router, send, lines } = await stores();
    for (let turn = 0; turn < 6; turn++) {
      const { json: made } = await send("POST", "/v1/responses", ask());
      const path = `/v1/responses/${made.id}`;
      const next = await send("POST", "/v1/responses", ask({ previous_response_id: made.id }));
      assert.deepEqual([next.status, next.json.by], [200, made.by]);
      for (const [method, rest] of [
        ["GET", ""],
        ["GET", "/input_items"],
        ["POST", "/cancel"],
        ["DELETE", ""],
      ] as const) {
        const { status, json } = await send(method, path + rest);
        assert.deepEqual([status, json.by, json.id], [200, made.by, made.id], method + rest);
      }
    }
    assert.equal(lines().length, 36);
    await assertIdle(router);
  });

  it("is found while its stream goes on", async () => {
    const { router, send, stores: all } = await stores();
    const response = await fetch(`${router.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ask({ stream: true, background: true })),
    });
    const reader = response.body!.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const [, id = ""] = /"id":"([^"]+)"/.exec(first)!;
    const cancelled = await send("POST", `/v1/responses/${id}/cancel`);
    assert.deepEqual([cancelled.status, cancelled.json.id], [200, id]);
    for (const store of all) store.finish();
    while (!(await reader.read()).done);
    await assertIdle(router);
  });

  it("goes from a file to its batch, and from the batch to the files that it wrote", async () => {
    const { send, lines } = await stores();
    const { json: file } = await send("POST", "/v1/files", "any bytes");
    for (let turn = 0; turn < 3; turn++) {
      const { status, json: batch } = await send("POST", "/v1/batches", { input_file_id: file.id, endpoint: "/v1/responses" });
      assert.deepEqual([status, batch.by], [200, file.by]);
      const got = await send("GET", `/v1/batches/${batch.id}`);
      assert.equal(got.json.by, file.by);
      const output = await send("GET", `/v1/files/files_of_${batch.id}/content`);
      assert.deepEqual([output.status, output.json.by, output.json.rest], [200, file.by, "content"]);
      assert.equal((await send("POST", `/v1/batches/${batch.id}/cancel`)).status, 200);
    }
    assert.equal(lines().length, 13);
  });

  it("is looked for at all replicas, once, where the router has not seen it", async () => {
    const { send, lines, stores: all } = await stores();
    all[2]!.kept.set("responses", new Set(["resp_old"]));
    const next = await send("POST", "/v1/responses", ask({ previous_response_id: "resp_old" }));
    assert.deepEqual([next.status, next.json.by], [200, "c"]);
    assert.equal((await send("GET", "/v1/responses/resp_old")).json.by, "c");
    assert.equal(lines().filter((line) => line === "GET /v1/responses/resp_old HTTP/1.1").length, 4);
    for (let turn = 0; turn < 3; turn++) {
      const { status, json } = await send("GET", "/v1/responses/resp_none");
      assert.deepEqual([status, json.error!.message], [404, "not found here"]);
    }
    // Three that were asked, and the three requests.
    assert.equal(lines().filter((line) => line.includes("resp_none")).length, 6);
  });

  it("is asked for once while many want it, and one that leaves stops nothing", async () => {
    const { router, send, stores: all, lines } = await stores();
    all[1]!.kept.set("files", new Set(["file_old"]));
    const gone = fetch(`${router.url}/v1/files/file_old`, { signal: AbortSignal.timeout(1) }).catch(() => undefined);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("GET", "/v1/files/file_old")));
    await gone;
    assert.deepEqual(new Set(answers.map(({ status, json }) => `${status} ${json.by}`)), new Set(["200 b"]));
    const others = lines().filter((line) => line.includes("file_old")).length;
    assert.ok(others >= 11 && others <= 12, String(others));
    await assertIdle(router);
  });

  it("may be at a replica that could not be asked: then it is not said that nobody has it", async () => {
    const silent = await setUp([startStore("a").script, () => {}], { spec: "  stored: { askTimeoutMs: 100 }\n" });
    const response = await fetch(`${silent.router.url}/v1/responses/resp_x`);
    assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "1"]);
    await response.text();
    await assertIdle(silent.router);
  });

  it("is gone with its replica: 404, in the shape of the API", async () => {
    const { router, replicas, send } = await stores("  pool: { probes: { readiness: { periodSeconds: 1 } } }\n");
    const { json: made } = await send("POST", "/v1/responses", ask());
    await replicas[NAMES.indexOf(made.by!)]!.close();
    await waitUntil(() => readyCount(router.router) < 3);
    const got = await send("GET", `/v1/responses/${made.id}`);
    assert.deepEqual([got.status, got.json.error!.code], [404, "stored_not_found"], JSON.stringify(got.json));
    assert.match(got.json.error!.message, /The replica that kept this response is gone/);
    const next = await send("POST", "/v1/responses", ask({ previous_response_id: made.id }));
    assert.deepEqual([next.status, next.json.error!.code], [404, "previous_response_not_found"]);
  });

  it("is not known when two replicas gave it the same id", async () => {
    const { send } = await stores("", ["", ""]);
    const ids = [await send("POST", "/v1/responses", ask()), await send("POST", "/v1/responses", ask())].map(
      ({ json }) => json.id,
    );
    assert.equal(ids[0], ids[1]);
    const got = await send("GET", `/v1/responses/${ids[0]}`);
    assert.deepEqual([got.status, got.json.error!.code], [404, "stored_not_found"]);
  });

  it("is 501 where it is turned off, as lists of all are", async () => {
    const { send } = await stores("  stored: false\n");
    for (const path of ["/v1/responses/resp_1", "/v1/files/file_1/content", "/v1/batches/b"]) {
      const { status, json } = await send("GET", path);
      assert.deepEqual([status, json.error!.code], [501, "not_implemented"]);
    }
    assert.equal((await send("POST", "/v1/files", "x")).status, 501);
    const on = await stores();
    for (const path of ["/v1/files", "/v1/batches"]) assert.equal((await on.send("GET", path)).status, 501);
  });
});

describe("what a replica keeps, beside other features", () => {
  const at = (name: string | undefined, { router }: Awaited<ReturnType<typeof stores>>, all: readonly { port: number }[]) =>
    router.router.pool.facts.endpoints.find(({ url }) => url.port === all[NAMES.indexOf(name!)]!.port)!.name;

  it("is asked of a replica that drains, which gets no new work", async () => {
    const set = await stores();
    const { send, router } = set;
    const { json: made } = await send("POST", "/v1/responses", ask());
    const endpoint = at(made.by, set, set.replicas);
    const wish = { reason: "", by: "", forMs: undefined, graceMs: 0 };
    router.router.control.intents.set(endpoint, { ...wish, intent: "drain" });
    assert.equal((await send("GET", `/v1/responses/${made.id}`)).json.by, made.by);
    const next = await send("POST", "/v1/responses", ask({ previous_response_id: made.id }));
    assert.deepEqual([next.status, next.json.error!.code], [404, "previous_response_not_found"]);
    assert.match(next.json.error!.message, /is being taken away/);
    router.router.control.intents.set(endpoint, { ...wish, intent: "cordon" });
    assert.equal((await send("POST", `/v1/responses/${made.id}/cancel`)).json.by, made.by);
    router.router.control.intents.clear(endpoint, "");
    assert.equal((await send("POST", "/v1/responses", ask({ previous_response_id: made.id }))).json.by, made.by);
  });

  it("is known after a change of the config, and forgotten with its section", async () => {
    const { send, router, replicas, lines } = await stores();
    const load = (spec: string) =>
      loadTestConfig(
        replicas.map(({ url }) => url),
        { spec },
      );
    const { json: made } = await send("POST", "/v1/responses", ask());
    router.router.replace(await load("  stored: { ttlMs: 60000 }\n"));
    const before = lines().length;
    assert.equal((await send("GET", `/v1/responses/${made.id}`)).json.by, made.by);
    assert.equal(lines().length, before + 1);
    router.router.replace(await load("  stored: false\n"));
    assert.equal((await send("GET", `/v1/responses/${made.id}`)).status, 501);
    router.router.replace(await load(""));
    assert.equal((await send("GET", `/v1/responses/${made.id}`)).json.by, made.by);
    assert.ok(lines().length > before + 2);
  });

  it("waits for no room, so that what takes the room can be cancelled", async () => {
    const set = await stores("  admission: { concurrency: 1, maxWaitMs: 60000 }\n", ["a"]);
    const { send, router, stores: all } = set;
    const { json: made } = await send("POST", "/v1/responses", ask());
    const stream = await fetch(`${router.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ask({ stream: true })),
    });
    const waiting = send("POST", "/v1/responses", ask());
    await waitUntil(() => (router.router.features.status() as { admission: { waiting: number } }).admission.waiting === 1);
    assert.equal((await send("POST", `/v1/responses/${made.id}/cancel`)).status, 200);
    all[0]!.finish();
    await stream.text();
    assert.equal((await waiting).status, 200);
  });

  it("does not fight with conversations that the router holds", async () => {
    const { send } = await stores("  conversations: { unknown: forward }\n");
    const { json: made } = await send("POST", "/v1/responses", ask());
    const places = new Set<string | undefined>();
    // The router holds it: any replica gets the whole conversation.
    for (let turn = 0; turn < 3; turn++) {
      const next = await send("POST", "/v1/responses", ask({ previous_response_id: made.id }));
      assert.equal(next.status, 200);
      places.add(next.json.by);
    }
    assert.equal(places.size, 3);
    // It does not hold a file, nor what store: false keeps from it.
    assert.equal((await send("GET", `/v1/responses/${made.id}`)).json.by, made.by);
  });

  it("frees what waits for an answer when its client leaves", async () => {
    const { router } = await setUp([startStore("a").script, () => {}], { spec: "  stored: { askTimeoutMs: 60000 }\n" });
    for (let index = 0; index < 40; index++) {
      const left = fetch(`${router.url}/v1/responses/resp_${index}`, { signal: AbortSignal.timeout(50) });
      await left.then(
        // Beyond 32 questions the router says so.
        async (response) => assert.equal([response.status, await response.text()][0], 429),
        () => undefined,
      );
    }
    await assertIdle(router);
  });
});

describe("what a replica keeps of one tenant", () => {
  const one = { authorization: `Bearer ${keyOf("one")}` };
  const two = { authorization: `Bearer ${keyOf("two")}` };

  for (const unknown of ["auto", "ask"])
    it(`is not there for another one (${unknown})`, async () => {
      const { send, stores: all, lines } = await stores(`${KEYS}  stored: { unknown: ${unknown} }\n`);
      const { json: made } = await send("POST", "/v1/responses", ask(), one);
      const before = lines().length;
      for (const [method, rest] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/cancel"],
      ] as const) {
        const { status, json } = await send(method, `/v1/responses/${made.id}${rest}`, undefined, two);
        assert.deepEqual([status, json.error!.code], [404, "stored_not_found"]);
      }
      const next = await send("POST", "/v1/responses", ask({ previous_response_id: made.id }), two);
      assert.deepEqual([next.status, next.json.error!.code], [404, "previous_response_not_found"]);
      assert.equal(lines().length, before);
      assert.equal((await send("GET", `/v1/responses/${made.id}`, undefined, one)).status, 200);
      all[1]!.kept.set("files", new Set(["file_old"]));
      assert.equal((await send("GET", "/v1/files/file_old", undefined, one)).status, unknown === "ask" ? 200 : 404);
    });

  it("does not become another one's by what a client puts into a document", async () => {
    const { send } = await stores(KEYS);
    const { json: file } = await send("POST", "/v1/files", "bytes", two);
    const { json: batch } = await send("POST", "/v1/batches", { input_file_id: file.id }, two);
    await send("GET", `/v1/batches/${batch.id}`, undefined, two);
    assert.equal((await send("GET", "/v1/files/files_of_victim", undefined, two)).status, 404);
    assert.equal((await send("GET", `/v1/files/files_of_${batch.id}`, undefined, two)).status, 200);
    // A batch may ask for any model, so a key for some of them makes none.
    assert.equal((await send("POST", "/v1/batches", { input_file_id: file.id }, one)).status, 403);
  });
});

describe("an engine that keeps nothing", () => {
  it("says so itself", async () => {
    const { router } = await setUp([(_request, socket) => void socket.write(jsonAnswer('{"object":"error"}', "404 Not Found"))]);
    const response = await fetch(`${router.url}/v1/responses/resp_1`);
    assert.deepEqual([response.status, await response.text()], [404, '{"object":"error"}']);
  });
});

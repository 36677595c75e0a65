import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AskOptions, makeApi, makeRewrite, type TestApiOptions } from "../../../support/api.ts";

interface History {
  readonly generation: number;
  readonly restored: number | null;
  readonly generations: readonly {
    readonly generation: number;
    readonly cause: string;
    readonly by: string;
    readonly changes: readonly string[];
    readonly restored: number | null;
  }[];
}

/** After the start, the model food has gone to v1, then v2, then v3. */
async function setUp(options: TestApiOptions = {}) {
  const made = await makeApi(options);
  const { ask, running } = made;
  if (options.access === undefined)
    for (const target of ["v1", "v2", "v3"])
      assert.equal((await ask("PUT", "/rewrites/food", { body: makeRewrite("food", { [target]: 1 }) })).status, 200);
  return {
    ...made,
    history: async () => (await ask("GET", "/config/history")).json as unknown as History,
    rollBack: (generation: unknown, more: AskOptions = {}) => ask("POST", "/config/rollback", { body: { generation }, ...more }),
    target: () => running.loaded.config.rewrites[0]?.targets[0]?.name,
  };
}

describe("the history of the config", () => {
  it("has each generation, the newest first, with who changed what", async () => {
    const { generation, restored, generations } = await (await setUp()).history();
    assert.deepEqual([generation, restored], [4, null]);
    assert.deepEqual(
      generations.map((each) => [each.generation, each.cause, each.by]),
      [
        [4, "api", "192.0.2.7"],
        [3, "api", "192.0.2.7"],
        [2, "api", "192.0.2.7"],
        [1, "start", ""],
      ],
    );
    assert.match(generations[0]!.changes.join(), /rewrite food\/0.*v2 1 -> v3 1/);
  });

  it("needs a token where reading does", async () => {
    const secret = { name: "reader", role: "read", secret: { reveal: () => "open" } } as never;
    const { ask } = await setUp({ access: { tokens: [secret] } });
    assert.equal((await ask("GET", "/config/history")).status, 401);
    const headers = { authorization: "Bearer open" };
    assert.equal((await ask("GET", "/config/history", { headers })).status, 200);
    assert.equal((await ask("POST", "/config/rollback", { body: { generation: 1 }, headers })).status, 403);
  });
});

describe("a rollback", () => {
  it("is an ordinary change: a generation of its own, logged with who and what", async () => {
    const { rollBack, target, history, running, logged } = await setUp();
    const { status, json, headers } = await rollBack(2);
    assert.deepEqual([status, json["generation"], json["cause"], headers.get("etag")], [200, 5, "rollback", '"5"']);
    assert.equal(target(), "v1");
    const [newest] = (await history()).generations;
    assert.deepEqual([newest?.generation, newest?.restored, newest?.by], [5, 2, "192.0.2.7"]);
    assert.equal(running.overlay.rewrites[0]?.by, "192.0.2.7");
    const { fields } = logged.find(({ fields: each }) => each?.["what"] === "config: back to generation 2")!;
    assert.deepEqual([fields?.["before"], fields?.["after"]], ["4", "5"]);
  });

  it("to the first generation drops what was changed beside the files", async () => {
    const { rollBack, target, running } = await setUp();
    assert.equal((await rollBack(1)).status, 200);
    assert.deepEqual([target(), running.overlay.rewrites, running.restored], [undefined, [], undefined]);
  });

  it("to the generation that runs changes nothing", async () => {
    const { rollBack, running } = await setUp();
    const { status, json } = await rollBack(4);
    assert.deepEqual([status, json["changes"], running.generation], [200, [], 4]);
  });

  it("does not bring back a change whose time is over", async () => {
    const { ask, rollBack, clock, target } = await setUp();
    const body = makeRewrite("food", { short: 1 });
    await ask("PUT", "/rewrites/food?forSeconds=60", { body });
    await ask("DELETE", "/rewrites/food");
    clock.advance(61_000);
    assert.equal((await rollBack(5)).status, 200);
    assert.equal(target(), undefined);
  });

  it("brings back a change whose time is not over, and it ends at its time", async () => {
    const { ask, rollBack, clock, target } = await setUp();
    await ask("PUT", "/rewrites/food?forSeconds=60", { body: makeRewrite("food", { short: 1 }) });
    await ask("PUT", "/rewrites/food", { body: makeRewrite("food", { v4: 1 }) });
    await rollBack(5);
    assert.equal(target(), "short");
    clock.advance(61_000);
    for (let turn = 0; turn < 100 && target() !== undefined; turn++) await new Promise(setImmediate);
    assert.equal(target(), undefined);
  });

  it("of two at once runs one: the other was made for another generation", async () => {
    const { rollBack, running, target } = await setUp();
    const headers = { "if-match": '"4"' };
    const both = await Promise.all([rollBack(3, { headers }), rollBack(2, { headers })]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 412]);
    assert.deepEqual([running.generation, target()], [5, "v2"]);
  });

  it("of two at once without a version runs one after the other, each whole", async () => {
    const { rollBack, running, target } = await setUp();
    const both = await Promise.all([rollBack(3), rollBack(2)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
    );
    assert.deepEqual([running.generation, target()], [6, "v1"]);
  });

  const REFUSED = [
    { name: "of a generation that is not kept", body: { generation: 99 }, status: 404, says: /not kept; there are 1, 2, 3, 4/ },
    { name: "of generation 0", body: { generation: 0 }, status: 400, says: /shape/ },
    { name: "of a text", body: { generation: "2" }, status: 400, says: /shape/ },
    { name: "without a generation", body: {}, status: 400, says: /shape/ },
    { name: "with a key that is none", body: { generation: 2, force: true }, status: 400, says: /shape/ },
  ];
  for (const { name, body, status, says } of REFUSED)
    it(`${name} is refused, and changes nothing`, async () => {
      const { ask, running } = await setUp();
      const answer = await ask("POST", "/config/rollback", { body });
      assert.equal(answer.status, status);
      assert.match(String(answer.json["detail"]), says);
      assert.equal(running.generation, 4);
    });
});

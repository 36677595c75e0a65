import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameSet } from "../../../core/contract/name-set.ts";
import { Adapters, UnknownEndpoint } from "../../../core/control/adapters.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { FakeClock } from "../../support/fake-clock.ts";

interface Sent {
  readonly endpoint: string;
  readonly path: string;
  readonly document: unknown;
}

const OK = { status: 200, body: "Success: LoRA adapter 'v2' added successfully." };
const endpoints = [
  makeEndpoint(0, { models: ["base", "v1"], modelCards: { v1: { root: "/adapters/v1" } } }),
  makeEndpoint(1),
  makeEndpoint(2, { phase: "not-ready", models: ["base", "v1"] }),
  makeEndpoint(3, { phase: "draining" }),
];

/** Four replicas, two of them in service; `respond` says what each answers. */
function setUp(respond: (sent: Sent) => { status: number; body: string } = () => OK) {
  const clock = new FakeClock();
  const load = new LoadTable();
  // As the table of endpoints does: the slots are theirs.
  const facts = factsOf(endpoints.map((each) => ({ ...each, slot: load.slotOf(each.name), generation: 1 })));
  for (const { slot } of facts.endpoints) load.knowAdapters(slot, { names: new Set(["v1"]) });
  const sent: Sent[] = [];
  const checked: string[] = [];
  const adapters = new Adapters({
    clock,
    load,
    facts: () => facts,
    targets: () => nameSet(["v1", "v2", "base"]),
    async post({ name }, path, document) {
      const call = { endpoint: name, path, document };
      sent.push(call);
      return respond(call);
    },
    adapterChanged: ({ name }) => void checked.push(name),
  });
  return { adapters, load, clock, sent, checked };
}

describe("who has which adapters", () => {
  it("lists what replicas list, and targets, without base models", () => {
    const { adapters } = setUp();
    assert.deepEqual(adapters.list(), [
      { name: "v1", isTarget: true, loaded: ["e0", "e2"], loading: [], refused: [] },
      { name: "v2", isTarget: true, loaded: [], loading: [], refused: [] },
    ]);
  });

  it("shows where one is being loaded, was served, and was refused", async () => {
    const { adapters, load, clock } = setUp();
    await clock.advance(100);
    load.unlisted.sent(0, "v2", clock.now());
    load.unlisted.served(1, "v2", clock.now());
    load.unlisted.refused(3, "v2", clock.now());
    assert.deepEqual(adapters.list()[1], {
      name: "v2",
      isTarget: true,
      loaded: ["e1"],
      loading: ["e0"],
      refused: [{ endpoint: "e3", retryInS: 2 }],
    });
  });
});

describe("loading an adapter", () => {
  it("from a path: every replica in service, also one that drains, gets the path; its list is read again", async () => {
    const { adapters, sent, checked } = setUp();
    const changes = await adapters.load("v2", { path: "/adapters/v2" });
    const document = { lora_name: "v2", lora_path: "/adapters/v2" };
    assert.deepEqual(
      sent,
      ["e0", "e1", "e3"].map((endpoint) => ({ endpoint, path: "/v1/load_lora_adapter", document })),
    );
    assert.deepEqual(changes[0], { endpoint: "e0", isDone: true, status: 200, message: OK.body });
    assert.deepEqual(checked, ["e0", "e1", "e3"]);
  });

  it("without a path: those that do not list it are asked for it, so that they find it by its name", async () => {
    const { adapters, sent } = setUp();
    const changes = await adapters.load("v1", {});
    assert.deepEqual(
      sent.map(({ endpoint, path }) => [endpoint, path]),
      [
        ["e1", "/tokenize"],
        ["e3", "/tokenize"],
      ],
    );
    assert.deepEqual(changes[0], { endpoint: "e0", isDone: true, status: null, message: "It has it already." });
  });

  it("at one endpoint: only that one", async () => {
    const { adapters, sent } = setUp();
    await adapters.load("v2", { endpoint: "e1" });
    assert.deepEqual(
      sent.map(({ endpoint }) => endpoint),
      ["e1"],
    );
  });

  it("ends the rest after a refusal, and teaches how long a load takes", async () => {
    const { adapters, load, clock } = setUp();
    load.unlisted.refused(1, "v2", clock.now());
    await adapters.load("v2", { endpoint: "e1" });
    assert.equal(load.unlisted.at(1, "v2", clock.now()), undefined);
    assert.ok(load.unlisted.adapterLoadMs < 2_000);
  });

  it("that a replica has already is done, and teaches nothing about how long a load takes", async () => {
    const body = `{"error":{"message":"The lora adapter 'v2' has already been loaded.","type":"InvalidUserInput","code":400}}`;
    const { adapters, load, checked } = setUp(() => ({ status: 400, body }));
    const before = load.unlisted.adapterLoadMs;
    const [change] = await adapters.load("v2", { path: "/adapters/v2", endpoint: "e1" });
    assert.deepEqual(change, { endpoint: "e1", isDone: true, status: 400, message: "It has it already." });
    assert.deepEqual([load.unlisted.adapterLoadMs, checked], [before, ["e1"]]);
  });

  it("that a replica has from another path is not done", async () => {
    const body = `{"error":{"message":"The lora adapter 'v1' has already been loaded."}}`;
    const { adapters } = setUp(() => ({ status: 400, body }));
    for (const [path, isDone] of [
      ["/adapters/v1/", true],
      ["/elsewhere/v1", false],
    ] as const) {
      const [change] = await adapters.load("v1", { path, endpoint: "e0" });
      assert.equal(change?.isDone, isDone, path);
    }
  });

  it("that a replica refuses, or that does not reach it, is said in the replica's words", async () => {
    const { adapters, checked } = setUp(({ endpoint }) => {
      if (endpoint === "e1") throw new GetError("refused", "Nobody listens at this address");
      if (endpoint === "e3") return { status: 502, body: "x".repeat(5_000) };
      return { status: 404, body: '{"error":{"message":"Loading lora v2 failed: No adapter found for /a"}}' };
    });
    const changes = await adapters.load("v2", { path: "/a" });
    assert.deepEqual(
      changes.map(({ isDone, status, message }) => [isDone, status, message]),
      [
        [false, 404, "Loading lora v2 failed: No adapter found for /a"],
        [false, null, "Nobody listens at this address"],
        [false, 502, "x".repeat(300)],
      ],
    );
    assert.deepEqual(checked, []);
  });
});

describe("unloading an adapter", () => {
  it("asks the replicas in service that list it", async () => {
    const { adapters, sent, checked } = setUp();
    await adapters.unload("v1", {});
    assert.deepEqual(sent, [{ endpoint: "e0", path: "/v1/unload_lora_adapter", document: { lora_name: "v1" } }]);
    assert.deepEqual(checked, ["e0"]);
  });

  const notFound = (message: string) => ({ status: 404, body: JSON.stringify({ error: { message, code: 404 } }) });
  const unknown: readonly (readonly [
    name: string,
    answer: { status: number; body: string },
    isDone: boolean,
    message: string,
  ])[] = [
    ["that a replica does not have is done", notFound("The lora adapter 'v1' cannot be found."), true, "It does not have it."],
    ["is not done where there is no such path", notFound("Not Found"), false, "Not Found"],
    ["is not done where it is forbidden", { status: 403, body: "cannot be found" }, false, "cannot be found"],
  ];
  for (const [name, answer, isDone, message] of unknown) {
    it(name, async () => {
      const { adapters } = setUp(() => answer);
      assert.deepEqual(await adapters.unload("v1", {}), [{ endpoint: "e0", isDone, status: answer.status, message }]);
    });
  }

  it("at one endpoint asks it whatever it lists", async () => {
    const { adapters, sent } = setUp();
    await adapters.unload("v1", { endpoint: "e1" });
    assert.deepEqual(
      sent.map(({ endpoint }) => endpoint),
      ["e1"],
    );
  });
});

it("an endpoint that the pool does not have is an error", () => {
  const { adapters } = setUp();
  assert.throws(() => adapters.load("v1", { endpoint: "e9" }), UnknownEndpoint);
  assert.throws(() => adapters.unload("v1", { endpoint: "e9" }), UnknownEndpoint);
});

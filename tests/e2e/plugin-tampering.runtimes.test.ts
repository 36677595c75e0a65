import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { type Definition, defineFilter, defineObserver, defineScorer } from "../../core/contract/plugin.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatBody, chatPost, setUp } from "../support/scripted-pool.ts";

const declared = { summary: "Of this test.", options: z.strictObject({}) };

/** Everything is writable to whoever does not care for types. */
// biome-ignore lint/suspicious/noExplicitAny: that is what this is about
type Anything = any;

/** What a scorer may try to do to what it is handed. */
const acts: Readonly<Record<string, (candidates: Anything, load: Anything) => void>> = {
  "empties the list": (candidates) => candidates.splice(0),
  "turns the list round": (candidates) => candidates.reverse(),
  "forgets models": ([first]) => first.models.clear(),
  "adds a model": ([first]) => first.models.add("m2"),
  "takes an endpoint's models away": ([first]) => {
    first.models = new Set();
  },
  "takes an endpoint out": ([first]) => {
    first.phase = "not-ready";
    first.isAvailable = false;
  },
  "gives an endpoint another slot": ([first]) => {
    first.slot = 1;
  },
  "sends an endpoint's requests elsewhere": ([first]) => {
    first.url.port = 9;
  },
  "writes labels": ([first]) => {
    first.labels.gpu = "h100";
  },
  "makes up load": (_candidates, load) => {
    load.inFlight = () => 1e9;
  },
  "makes up load for good": (_candidates, load) => {
    Object.getPrototypeOf(load).inFlight = () => 1e9;
  },
};

/** What a plugin sees of the pool. */
const view = (candidates: readonly Endpoint[], load: LoadView) =>
  candidates.map(({ name, slot, phase, isAvailable, models, labels, url }) => ({
    ...{ name, slot, phase, isAvailable, labels, models: [...models], port: url.port, inFlight: load.inFlight(slot) },
  }));

/** Three replicas, and after the plugin under test a scorer that says what it sees. */
async function setUpWitness(plugin: Definition) {
  const seen: unknown[] = [];
  const witness = defineScorer({
    ...declared,
    type: "witness",
    create: () => ({
      score(_request, candidates, load) {
        seen.push(view(candidates, load));
        return null;
      },
    }),
  }) as Definition;
  const own = plugin.kind === "observer" ? [] : [plugin.type];
  const refs = ["ready", "serves-model", ...own, "witness", "max-score"].map((ref) => `{ pluginRef: ${ref} }`);
  const { router } = await setUp([answerOk, answerOk, answerOk], {
    plugins: [plugin, witness],
    spec: `  plugins: [ { type: ${plugin.type} } ]\n  profiles: [ { name: default, plugins: [ ${refs.join(", ")} ] } ]`,
  });
  /** Serves a few requests; each finds the pool as it was at the beginning, less so many that the plugin drops. */
  const assertUntouched = async (dropped = 0) => {
    const status = () => view(router.router.pool.facts.endpoints, router.router.pool.load.at(0));
    const before = structuredClone(status());
    assert.equal(before.length, 3);
    for (let i = 0; i < 3; i++) {
      assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
      await assertIdle(router);
      assert.deepEqual(status(), before);
    }
    assert.deepEqual(seen, Array(3).fill(before.slice(dropped)));
  };
  return { port: router.port, assertUntouched };
}

describe("a scorer that", () => {
  for (const [name, act] of Object.entries(acts)) {
    it(`${name} changes nothing that others see`, async () => {
      let tries = 0;
      const vandal = defineScorer({
        ...declared,
        type: "vandal",
        create: () => ({
          score(_request, candidates, load) {
            tries += 1;
            act(candidates, load);
            return null;
          },
        }),
      });
      const { assertUntouched } = await setUpWitness(vandal as Definition);
      await assertUntouched();
      assert.equal(tries, 3);
    });
  }
});

describe("a plugin that filters and", () => {
  const rows: Readonly<Record<string, (returned: Endpoint[]) => void>> = {
    "empties the list it returned": (returned) => void returned.splice(0),
    "turns it round": (returned) => void returned.reverse(),
    "adds somebody": (returned) => void returned.push({ ...returned[0]!, name: "stranger" }),
  };
  for (const [name, act] of Object.entries(rows)) {
    it(`${name}, once others work with it, changes nothing that they see`, async () => {
      const vandal = defineScorer({
        ...declared,
        type: "vandal",
        create() {
          const returned: Endpoint[][] = [];
          return {
            filter(_request, candidates) {
              const list = candidates.slice(1);
              returned.push(list);
              return list;
            },
            score() {
              for (const list of returned) act(list);
              return null;
            },
          };
        },
      });
      const { assertUntouched } = await setUpWitness(vandal as Definition);
      await assertUntouched(1);
    });
  }
});

/** An error of a filter's own, and what it does to the pool that it is handed for it. */
const refusing = defineFilter({
  ...declared,
  type: "vandal",
  create: () => ({
    filter: (request, candidates) => (request.headers.get("x-refuse") === undefined ? candidates : []),
    refuse(_request, endpoints) {
      (endpoints as Anything).splice(0);
      return new RouterError("model_not_found", "Ask for something else.");
    },
  }),
}) as Definition;

const observing = defineObserver({
  ...declared,
  type: "vandal",
  create: () => ({
    finished({ decision }) {
      const { endpoints, legs } = decision as Anything;
      for (const list of [endpoints, legs[0].candidates, legs[0].order]) list.splice(0);
    },
  }),
}) as Definition;

describe("after a request", () => {
  it("whose filter emptied the pool that it was handed, the next ones are served", async () => {
    const { port, assertUntouched } = await setUpWitness(refusing);
    assert.equal(readAnswer(await exchange(port, chatPost("", "X-Refuse: yes\r\n"))).status, 404);
    await assertUntouched();
  });

  it("whose observer emptied every list that it was told of, the next ones are served", async () => {
    const { assertUntouched } = await setUpWitness(observing);
    await assertUntouched();
  });
});

describe("a plugin that freezes what it is handed of a request", () => {
  const frozen: Readonly<Record<string, (request: Anything) => void>> = {
    "the request": (request) => Object.freeze(request),
    "its headers": (request) => Object.freeze(request.headers),
  };
  for (const [name, act] of Object.entries(frozen)) {
    it(`${name}: each one is served, ends once, and leaves nothing`, async () => {
      const plugin = defineScorer({
        ...declared,
        type: "freezer",
        create: () => ({
          score(request) {
            act(request);
            return null;
          },
        }),
      }) as Definition;
      const refs = ["ready", "serves-model", "freezer", "max-score"].map((ref) => `{ pluginRef: ${ref} }`);
      const { router } = await setUp([answerOk], {
        plugins: [plugin],
        spec: `  plugins: [ { type: freezer } ]\n  profiles: [ { name: default, plugins: [ ${refs.join(", ")} ] } ]`,
      });
      for (const bytes of [10, 30_000]) {
        const post = chatPost(`,"a":"${"a".repeat(bytes)}"`);
        assert.equal(readAnswer(await exchange(router.port, post)).status, 200);
      }
      await assertIdle(router);
      await waitUntil(() => router.log.length === 2);
      assert.equal(router.router.gate.memory.bodyBytes, 0);
    });
  }
});

describe("a plugin of one's own that writes into", () => {
  const rows: Readonly<Record<string, readonly [kind: string, method: string]>> = {
    "the body, as a scorer": ["scorer", "score(request) { request.body.fill(32); return null; }"],
    "the body, as a filter": ["filter", "filter(request, all) { request.body.fill(32); return all; }"],
    "the body, when it is chosen": ["scorer", "score: () => null, chosen(request) { request.body.fill(32); }"],
    "where the model's name is": [
      "scorer",
      "score(request) { request.modelSpan[0] = 1; request.promptSpans.length = 0; request.target = 'x'; return null; }",
    ],
    "the headers": ["scorer", "score(request) { request.headers.get = () => 'x'; return null; }"],
  };
  for (const [name, [kind, method]] of Object.entries(rows)) {
    it(`${name} changes nothing that is sent`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-tampering-"));
      after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "vandal.mjs");
      const options = '{ "~standard": { version: 1, vendor: "mine", validate: (value) => ({ value }) } }';
      const plugin = `{ kind: "${kind}", type: "vandal", summary: "", options: ${options}, create: () => ({ ${method} }) }`;
      writeFileSync(file, `export default ${plugin};`);
      const { router, replica } = await setUp([answerOk], {
        spec: `  plugins: [ { from: ${JSON.stringify(file)} } ]\n  profiles: [ { plugins: [ { pluginRef: vandal } ] } ]`,
      });
      assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
      assert.equal(replica.requests[0]?.body.toString(), chatBody());
    });
  }
});

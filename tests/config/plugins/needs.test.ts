/** What a plugin type needs before an instance is made: optional packages, and secrets in its parameters. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type LoadedConfig, loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { changesBetween } from "../../../config/show/changes.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { silentLog } from "../../../core/contract/log.ts";
import { z } from "../../../core/contract/options.ts";
import { type Definition, defineObserver } from "../../../core/contract/plugin.ts";
import { runRouter } from "../../../core/run-router.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const KEY = "SIGNALBOX_TEST_NEEDED_KEY";
after(() => delete process.env[KEY]);

const got: string[] = [];

/** An observer that takes secrets from the places that it is told. */
function needing(load?: () => Promise<void>, asksFor = ""): Definition {
  return defineObserver({
    type: "needing",
    summary: "Needs something.",
    options: z.strictObject({ headers: z.record(z.string(), z.string()).default({}) }),
    ...(load && { load }),
    secrets: ({ headers }) => Object.values(headers),
    create({ headers }, host) {
      for (const from of asksFor === "" ? Object.values(headers) : [asksFor]) got.push(host.secret(from).reveal());
      return { finished() {} };
    },
  }) as Definition;
}

async function load(definition: Definition, headers = "{}") {
  const plugin = `{ type: needing, parameters: { headers: ${headers} } }`;
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: false\n  pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }\n  plugins:\n    - ${plugin}\n`;
  const loaded = await loadTexts([{ file: "a.yaml", text }], new Map([...builtIns, ["needing", definition]]));
  return loaded.problems === undefined ? loaded : loaded.problems.map(formatProblem);
}

async function loadGood(definition: Definition, headers?: string): Promise<LoadedConfig> {
  const loaded = await load(definition, headers);
  assert.ok(!Array.isArray(loaded), String(loaded));
  return loaded as LoadedConfig;
}

const start = (loaded: LoadedConfig) =>
  runRouter(loaded, { clock: new FakeClock(), random: () => 0.5, log: silentLog, output: { print() {}, isTerminal: false } });

describe("load", () => {
  const faults: readonly (readonly [why: string, load: () => Promise<void>, hint: string])[] = [
    ["rejects", () => Promise.reject(new Error("npm install it")), "npm install it"],
    [
      "throws",
      () => {
        throw new Error("no disk");
      },
      "no disk",
    ],
    ["rejects with a text", () => Promise.reject("why not"), "why not"],
  ];
  for (const [why, fault, hint] of faults) {
    it(`that ${why} is a problem of the config, with its place`, async () => {
      const wanted = `a.yaml:7:7  spec.plugins[0]  found the plugin type "needing", which can't be loaded. ${hint}`;
      assert.deepEqual(await load(needing(fault)), [wanted]);
    });
  }

  it("is awaited before the instance is made", async () => {
    let isLoaded = false;
    await loadGood(
      needing(async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        isLoaded = true;
      }),
    );
    assert.ok(isLoaded);
  });
});

describe("secrets in parameters", () => {
  it("are read with the config and given to the instance", async () => {
    process.env[KEY] = "sk-1";
    got.length = 0;
    start(await loadGood(needing(), `{ a: "env:${KEY}" }`)).close();
    assert.deepEqual(got, ["sk-1"]);
  });

  it("that are missing are problems with a place, and no instance is made", async () => {
    const problems = await load(needing(), "{ a: env:SIGNALBOX_TEST_UNSET_KEY }");
    assert.ok(Array.isArray(problems));
    assert.match(problems.join("\n"), /^a\.yaml:7:36 {2}spec\.plugins\[0\]\.parameters {2}found the environment variable/);
  });

  it("that the definition did not name can't be had", async () => {
    const loaded = await loadGood(needing(undefined, "env:PATH"));
    assert.throws(() => start(loaded), /env:PATH was not read/);
  });

  it("are shown nowhere, and a changed one changes the plugin", async () => {
    process.env[KEY] = "sk-secret-1";
    const before = await loadGood(needing(), `{ a: "env:${KEY}" }`);
    process.env[KEY] = "sk-secret-2";
    const next = { ...(await loadGood(needing(), `{ a: "env:${KEY}" }`)), definitions: before.definitions };
    assert.deepEqual(changesBetween(before, next), ["plugin needing changed"]);
    assert.deepEqual(changesBetween(before, before), []);
    const shown = JSON.stringify([effectiveConfig(before, {}), before.config.plugins]);
    assert.doesNotMatch(shown, /sk-secret/);
  });

  it("written into a header are neither shown nor quoted", async () => {
    const definition = { ...needing(), secrets: () => [] };
    const loaded = await loadGood(definition, "{ x-key: sk-literal }");
    assert.doesNotMatch(JSON.stringify(effectiveConfig(loaded, {})), /sk-literal/);
    assert.doesNotMatch(String(await load(definition, "{ x-key: 12345 }")), /12345/);
  });
});

describe("tls in parameters", () => {
  const telling = (tls: () => unknown) => ({ ...needing(), tls }) as Definition;
  const faults: readonly (readonly [why: string, tls: () => unknown, problem: RegExp])[] = [
    ["is no mapping", () => "ca.crt", /parameters.* found .*; wanted a mapping/],
    ["has another key", () => ({ ca: "ca.crt" }), /found the unknown key "ca"/],
    [
      "throws",
      () => {
        throw new Error("no disk");
      },
      /found the plugin type "needing", whose tls fails\. no disk/,
    ],
  ];
  for (const [why, tls, problem] of faults)
    it(`that ${why} is a problem of the config`, async () => {
      const problems = await load(telling(tls));
      assert.ok(Array.isArray(problems), "it was accepted");
      assert.match(problems.join("\n"), problem);
    });

  it("may be undefined", async () => {
    const { config } = await loadGood(telling(() => undefined));
    assert.equal(config.settings.replicaTls, undefined);
  });
});

it("two observers that trace are one too many", async () => {
  const tracer = (type: string) =>
    defineObserver({
      type,
      summary: "Traces.",
      options: z.strictObject({}),
      create: () => ({ finished() {}, trace: () => undefined }),
    });
  const types = new Map([...builtIns, ...["one", "two"].map((type) => [type, tracer(type) as Definition] as const)]);
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: false\n  pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }\n  plugins: [ { type: one }, { type: two } ]\n`;
  const loaded = await loadTexts([{ file: "a.yaml", text }], types);
  assert.throws(() => start(loaded as LoadedConfig), /Two plugins trace requests \("one" and "two"\)/);
});

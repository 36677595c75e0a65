import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { silentLog } from "../../../core/contract/log.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import { buildPluginSet } from "../../../core/control/plugin-set.ts";
import { type Definition, defineKind, defineScorer } from "../../../core/plugin.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { FakeClock } from "../../support/fake-clock.ts";

// Three packages: one says what a tokenizer is, one has one, one calls those that the config lists.
const tokenizers = defineKind<{ count(text: string): number; dispose?(): void }>("acme/tokenizer");

function types(disposed: string[] = []): ReadonlyMap<string, Definition> {
  const words = tokenizers.define({
    type: "words",
    summary: "Counts words.",
    create: (_, { name }) => ({ count: (text) => text.split(" ").length, dispose: () => void disposed.push(name) }),
  });
  const byTokens = defineScorer({
    type: "by-tokens",
    summary: "Prefers nobody, and counts.",
    uses: [tokenizers.kind],
    create: (_, host) => ({
      score: (_request, candidates) =>
        candidates.map(() => 1 / tokenizers.of(host).reduce((sum, { plugin }) => sum + plugin.count("a b"), 0)),
    }),
  });
  return new Map([...builtIns, ["words", words as Definition], ["by-tokens", byTokens as Definition]]);
}

async function load(plugins: string, registry = types()) {
  const spec = `{ admin: false, pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }, plugins: [ ${plugins} ] }`;
  return loadTexts([{ file: "a.yaml", text: `apiVersion: signalbox/v1\nkind: Router\nspec: ${spec}\n` }], registry);
}

const services = { clock: new FakeClock(), random: seededRandom(1), log: silentLog, output: { print() {}, isTerminal: false } };

describe("a kind of plugin that the router does not know", () => {
  it("is made, called by other plugins wherever they stand, and disposed", async () => {
    const disposed: string[] = [];
    const loaded = await load("{ type: by-tokens }, { type: words, name: one }, { type: words, name: two }", types(disposed));
    if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
    assert.deepEqual(loaded.warnings, []);
    const set = buildPluginSet(loaded, services, new KeptState());
    const { plugin } = set.active.profile.scorers[0]!;
    assert.deepEqual(plugin.score({} as never, [{}] as never, {} as never), [0.25]);
    set.dispose();
    assert.deepEqual(disposed, ["two", "one"]);
  });

  it("is warned of where nothing calls it", async () => {
    const { warnings } = await load("{ type: words }");
    assert.deepEqual(warnings.map(formatProblem), [
      'a.yaml:3:90  spec.plugins[0]  found the acme/tokenizer "words", which no listed plugin calls; ' +
        'wanted a plugin whose definition has uses: ["acme/tokenizer"], or no entry.',
    ]);
  });

  it("has no place in a profile", async () => {
    const { problems = [] } = await loadTexts(
      [
        {
          file: "a.yaml",
          text: `apiVersion: signalbox/v1\nkind: Router\nspec: { pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }, plugins: [ { type: words } ], profiles: [ { plugins: [ { pluginRef: words } ] } ] }\n`,
        },
      ],
      types(),
    );
    assert.match(
      problems.map(formatProblem).join("\n"),
      /found "words", which is a acme\/tokenizer; wanted a filter, scorer or picker/,
    );
  });

  it("that makes nothing is named", async () => {
    const none = tokenizers.define({ type: "none", summary: "", create: () => undefined as never });
    const loaded = await load("{ type: none }", new Map([...types(), ["none", none as Definition]]));
    if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
    assert.throws(() => buildPluginSet(loaded, services, new KeptState()), {
      message: 'The plugin "none" (none) is no acme/tokenizer: create must return an object, and returned undefined',
    });
  });
});

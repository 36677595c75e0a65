import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type LoadedConfig, loadTexts } from "../../../config/load.ts";
import { silentLog } from "../../../core/contract/log.ts";
import { z } from "../../../core/contract/options.ts";
import { type Definition, defineObserver, type PluginHost } from "../../../core/contract/plugin.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import { buildPluginSet } from "../../../core/control/plugin-set.ts";
import { runRouter } from "../../../core/run-router.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** An observer that records its creation and disposal; with `parameters.fails` its creation throws. */
function noting(events: string[], hosts: PluginHost[] = []): Definition {
  return defineObserver({
    type: "noting",
    summary: "Notes what becomes of it.",
    options: z.strictObject({ fails: z.boolean().default(false) }),
    create({ fails }, host) {
      if (fails) throw new Error("there is no disk");
      hosts.push(host);
      events.push(`made ${host.name}`);
      return {
        finished() {},
        dispose() {
          events.push(`disposed ${host.name}, aborted ${host.signal.aborted}`);
        },
      };
    },
  }) as Definition;
}

async function load(definition: Definition, plugins: readonly string[]): Promise<LoadedConfig> {
  const spec = `  admin: false\n  pool: { endpoints: [ { url: "http://127.0.0.1:9" } ] }\n  plugins: [ ${plugins.join(", ")} ]\n`;
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}`;
  const loaded = await loadTexts([{ file: "a.yaml", text }], new Map([...builtIns, [definition.type, definition]]));
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

const services = (clock = new FakeClock()) => ({
  clock,
  random: seededRandom(1),
  log: silentLog,
  output: { print() {}, isTerminal: false },
});
const one = "{ type: noting, name: one }";
const two = "{ type: noting, name: two }";
const broken = "{ type: noting, name: broken, parameters: { fails: true } }";

describe("a plugin set", () => {
  it("is disposed once, in reverse order, after its signal was aborted", async () => {
    const events: string[] = [];
    const set = buildPluginSet(await load(noting(events), [one, two]), services(), new KeptState());
    set.dispose();
    set.dispose();
    assert.deepEqual(events, ["made one", "made two", "disposed two, aborted true", "disposed one, aborted true"]);
  });

  it("that can't be built disposes the instances already made and names the one that failed", async () => {
    const events: string[] = [];
    const loaded = await load(noting(events), [one, two, broken]);
    assert.throws(() => buildPluginSet(loaded, services(), new KeptState()), {
      message: 'The plugin "broken" can\'t be made: there is no disk',
    });
    assert.deepEqual(events.slice(2), ["disposed two, aborted true", "disposed one, aborted true"]);
  });

  it("gets the state of the previous set", async () => {
    const hosts: PluginHost[] = [];
    const loaded = await load(noting([], hosts), [one]);
    const kept = new KeptState();
    buildPluginSet(loaded, services(), kept);
    buildPluginSet(loaded, services(), kept);
    const [before, after] = hosts.map((host) => host.keep(1, () => ({})));
    assert.equal(before, after);
  });
});

describe("a router that can't start", () => {
  it("leaves no timer and no plugin behind", async () => {
    const events: string[] = [];
    const clock = new FakeClock();
    const loaded = await load(noting(events), [one, broken]);
    assert.throws(() => runRouter(loaded, services(clock)), /"broken"/);
    assert.equal(clock.pending, 0);
    assert.deepEqual(events, ["made one", "disposed one, aborted true"]);
  });

  it("leaves none when a discovery throws either", async () => {
    const clock = new FakeClock();
    const loaded = await load(noting([]), [one]);
    const definitions = new Map(loaded.definitions);
    const name = loaded.config.plugins.find(({ type }) => type === "static")!.name;
    definitions.set(name, {
      ...definitions.get(name)!,
      create: () => ({
        start() {
          throw new Error("no network");
        },
      }),
    } as Definition);
    assert.throws(() => runRouter({ ...loaded, definitions } as LoadedConfig, services(clock)), /no network/);
    assert.equal(clock.pending, 0);
  });
});

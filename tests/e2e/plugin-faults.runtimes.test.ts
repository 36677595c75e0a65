import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { createRouter } from "../../apps/fetch.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { type Log, silentLog } from "../../core/contract/log.ts";
import { z } from "../../core/contract/options.ts";
import {
  type Definition,
  defineFilter,
  defineObserver,
  defineParser,
  definePicker,
  defineScorer,
} from "../../core/contract/plugin.ts";
import { jsonAnswer, startScriptedReplica } from "../support/scripted-replica.ts";

const declared = { summary: "Breaks its contract", options: z.strictObject({}) };
const fail = (): never => {
  throw new Error("broken on purpose");
};

/** Throws a value that can't be turned into text. */
const failUnprintably = (): never => {
  throw Object.create(null);
};

/** A rejection that nobody handles fails this file on every runtime. */
const reject = async (): Promise<never> => fail();

/** A refusal as JavaScript may make it. */
const spoiled = () => Object.assign(new RouterError("saturated", "No."), { code: "no_such_code" });
const hidden = new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });

/** A list of one value that throws when it is read again. */
const readOnce = (value: number): ArrayLike<number> => {
  let reads = 0;
  return new Proxy([value], { get: (target, key) => (key === "0" && ++reads > 1 ? fail() : Reflect.get(target, key)) });
};

type Parts = Readonly<Record<string, unknown>>;
const scorer = (plugin: Parts) => defineScorer({ ...declared, type: "zoo", create: () => plugin as never }) as Definition;
const filter = (plugin: Parts) => defineFilter({ ...declared, type: "zoo", create: () => plugin as never }) as Definition;
const picker = (plugin: Parts) => definePicker({ ...declared, type: "zoo", create: () => plugin as never }) as Definition;
const observer = (plugin: Parts) => defineObserver({ ...declared, type: "zoo", create: () => plugin as never }) as Definition;
const parser = (parse: () => never) => {
  const routes = [{ method: "POST", path: "/v1/chat/completions" }];
  const plugin = { dialect: "openai", routes, keys: ["model"], parse } as const;
  return defineParser({ ...declared, type: "zoo", create: () => plugin }) as Definition;
};
const copies = (_request: unknown, candidates: readonly object[]) => candidates.map((candidate) => ({ ...candidate }));

/** What each kind may do wrong, and still the client is served. */
const harmless: readonly (readonly [name: string, plugin: Definition])[] = [
  ["a scorer that throws has no opinion", scorer({ score: fail })],
  ["a scorer that throws what can't be shown", scorer({ score: failUnprintably })],
  ["a scorer that returns a rejected promise", scorer({ score: reject })],
  ["a scorer that returns too few", scorer({ score: () => [] })],
  ["a scorer that throws once the choice is made", scorer({ score: () => null, chosen: fail })],
  ["a scorer that can't say its header", scorer({ score: () => null, responseHeader: fail })],
  ["a scorer whose scores can be read once", scorer({ score: () => readOnce(0.5) })],
  ["an observer that throws", observer({ finished: fail })],
  ["an observer that is async and fails", observer({ finished: reject })],
  ["an observer that throws what can't be shown", observer({ finished: failUnprintably })],
];
/** What gets the client a 500. */
const fatal: readonly (readonly [name: string, plugin: Definition])[] = [
  ["a filter that throws", filter({ filter: fail })],
  ["a filter that throws what can't be shown", filter({ filter: failUnprintably })],
  ["a filter that returns a rejected promise", filter({ filter: reject })],
  ["a filter that invents an endpoint", filter({ filter: copies })],
  ["a filter whose refusal throws", filter({ filter: () => [], refuse: fail })],
  ["a filter whose refusal has no status", filter({ filter: () => [], refuse: spoiled })],
  ["a filter that lets nobody look at its list", filter({ filter: () => hidden })],
  ["a filter whose refusal is a rejected promise", filter({ filter: () => [], refuse: reject })],
  ["a parser that throws", parser(fail)],
  ["a parser that throws what can't be shown", parser(failUnprintably)],
  ["a picker that picks nobody", picker({ pick: () => [] })],
  ["a picker that returns a rejected promise", picker({ pick: reject })],
  ["a picker that picks one endpoint twice", picker({ pick: ([first]: readonly unknown[]) => [first, first] })],
];
const zoo = [
  ...harmless.map(([name, plugin]) => ({ name, plugin, status: 200, code: undefined })),
  ...fatal.map(([name, plugin]) => ({ name, plugin, status: 500, code: "plugin_fault" })),
];

describe("a plugin that breaks its contract", async () => {
  const replica = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
  );
  after(() => replica.close());
  for (const { name, plugin, status, code } of zoo) {
    it(`${name}: ${status}, and so are the next ones`, async () => {
      const profile = ["observer", "parser"].includes(plugin.kind) ? "max-score" : "zoo";
      const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "${replica.url}" } ] }\n  plugins: [ { type: zoo } ]\n  profiles: [ { name: default, plugins: [ { pluginRef: ${profile} } ] } ]\n`;
      const router = await createRouter({ text, plugins: [plugin] });
      try {
        await router.whenReady(5_000);
        for (let i = 0; i < 3; i++) {
          const body = '{"model":"m","messages":[]}';
          const request = new Request("http://router/v1/chat/completions", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body,
          });
          const answer = await router.fetch(request);
          assert.equal(answer.status, status);
          const json = (await answer.json()) as { error?: { code: string } };
          assert.equal(json.error?.code, code);
        }
      } finally {
        router.close();
      }
    });
  }
});

describe("a plugin file that throws", async () => {
  const replica = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
  );
  const folder = mkdtempSync(join(tmpdir(), "signalbox-faults-"));
  const core = JSON.stringify(pathToFileURL(join(import.meta.dirname ?? ".", "../../core/contract")).href).slice(1, -1);
  const source = (create: string) => `import { z } from "${core}/options.ts";
import { defineFilter } from "${core}/plugin.ts";
interface Shape {
  readonly why: string;
}
const shape: Shape = { why: "broken on purpose" };
export default defineFilter({
  type: "thrower",
  summary: "Throws.",
  options: z.strictObject({}),
  create: ${create},
});
`;
  const CREATE_THROWS = "() => {\n    throw new Error(shape.why);\n  }";
  const FILTER_THROWS = "() => ({\n    filter: () => {\n      throw new Error(shape.why);\n    },\n  })";
  writeFileSync(join(folder, "create.ts"), source(CREATE_THROWS));
  writeFileSync(join(folder, "filter.ts"), source(FILTER_THROWS));
  after(async () => {
    await replica.close();
    rmSync(folder, { recursive: true });
  });
  const start = (name: string, log: Log) => {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(
      file,
      `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "${replica.url}" } ] }\n  plugins: [ { from: ./${name}.ts } ]\n`,
    );
    return createRouter({ files: [file], log });
  };

  it("in create: the place in the config, the message, and the place in the file", async () => {
    await assert.rejects(start("create", silentLog), (error: Error) => {
      assert.match(
        error.message,
        /create\.yaml:5:14 {2}The plugin "thrower" can't be made: broken on purpose \(thrown at \S+create\.ts:12:\d+\)$/,
      );
      return true;
    });
  });

  it("in a request: one line in the log with its name, the message and the place, and none of it for the client", async () => {
    const lines: unknown[] = [];
    const router = await start("filter", { ...silentLog, warn: (message, fields) => void lines.push({ message, ...fields }) });
    await router.whenReady(5_000);
    for (let i = 0; i < 3; i++) {
      const headers = { "content-type": "application/json" };
      const body = '{"model":"m","messages":[]}';
      const answer = await router.fetch(new Request("http://router/v1/chat/completions", { method: "POST", headers, body }));
      assert.equal(answer.status, 500);
      assert.doesNotMatch(await answer.text(), /on purpose|filter\.ts/);
    }
    router.close();
    assert.equal(lines.length, 1);
    const { message, plugin, fault } = lines[0] as Record<string, string>;
    assert.deepEqual([message, plugin], ["A plugin broke its contract", "thrower"]);
    assert.match(fault!, /^broken on purpose \(\S+filter\.ts:13:\d+\)$/);
  });
});

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { installed, newFolder, partNames, programIn, runOn, startOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

/** A scorer as its author writes it; each response says that it had a part in it. */
const source = (name: string, text = "") => `import { defineScorer, z } from "signalbox/plugin";

const header${text} = "x-${name}";
export default defineScorer({
  type: "${name}",
  summary: "Has no opinion.",
  options: z.strictObject({ value: z.string().default("yes") }),
  create: ({ value }) => ({ score: () => null, responseHeader: () => [header, value] }),
});
`;
const TYPED = ": string";

/** Each plugin's file beside the config, and how the config names it where that is no path. */
const PLUGINS: Readonly<Record<string, { readonly file: string; readonly from?: string; readonly text?: string }>> = {
  js: { file: "plugin.js" },
  mjs: { file: "plugin.mjs" },
  ts: { file: "plugin.ts", text: TYPED },
  "commonjs-js": { file: "common/plugin.js" },
  "commonjs-ts": { file: "common/plugin.ts", text: TYPED },
  "module-js": { file: "module/plugin.js" },
  "module-ts": { file: "module/plugin.ts", text: TYPED },
  package: { file: "node_modules/signalbox-scorer/index.js", from: "signalbox-scorer" },
  "npm-package": { file: "node_modules/@team/scorer/index.js", from: "npm:@team/scorer" },
};
const MANIFESTS = {
  "common/package.json": { type: "commonjs" },
  "module/package.json": { type: "module" },
  "node_modules/signalbox-scorer/package.json": { name: "signalbox-scorer", type: "module", exports: "./index.js" },
  "node_modules/@team/scorer/package.json": { name: "@team/scorer", type: "module", exports: "./index.js" },
};

const app = await installed();
const program = programIn(app);
/** Where the plugins are: nothing is installed there or above. */
const outside = newFolder("outside");
let replica: MockReplica;

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

before(async () => {
  replica = await startMockReplica({ model: "demo" });
  for (const [name, { file, text }] of Object.entries(PLUGINS)) write(outside, file, source(name, text));
  for (const [path, manifest] of Object.entries(MANIFESTS)) write(outside, path, JSON.stringify(manifest));
  const names = Object.keys(PLUGINS);
  const entries = Object.entries(PLUGINS).map(([name, { file, from = `./${file}` }]) => ({ from, name, parameters: {} }));
  const spec = {
    pool: { endpoints: [{ url: replica.url }] },
    plugins: entries,
    profiles: [{ plugins: names.map((pluginRef) => ({ pluginRef })) }],
  };
  write(outside, "signalbox.json", JSON.stringify({ apiVersion: "signalbox/v1", kind: "Router", spec }));
});
after(() => replica.close());

it("npm install brings the package and its dependencies, and nothing else", () => {
  const installed = readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."));
  assert.deepEqual(installed, ["signalbox", ...partNames].sort());
});

it("Node 20 without a compiler says what to do about TypeScript", async (t) => {
  if ("typescript" in process.features) return t.skip("this Node runs TypeScript itself");
  const { code, out, err } = await runOn("node", outside, `node ${program} check -f signalbox.json`);
  assert.equal(code, 1);
  assert.match(out + err, /plugin\.ts.*\n?.*npm i tsx/);
});

describe("plugins in a plain folder, written as JavaScript or TypeScript, take part in requests on", () => {
  before(() => {
    // As `npm i tsx` would: Node 20 needs it for TypeScript.
    symlinkSync(join(ROOT, "node_modules", "tsx"), join(outside, "node_modules", "tsx"));
  });

  const newer = (process.env["SIGNALBOX_NODES"] ?? "").split(delimiter).filter(Boolean);
  for (const [machine, line] of [
    ...["node", ...newer].map((node) => ["node", `${node} ${program}`] as const),
    ["deno", `deno run -A ${program}`],
    ["bun", `bun run ${program}`],
  ] as const) {
    it(line, { timeout: 120_000 }, async () => {
      const router = await startOn(machine, outside, `${line} start -f signalbox.json`);
      const response = await fetch(`${router.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 }),
      });
      await response.text();
      const taking = Object.keys(PLUGINS).filter((name) => response.headers.get(`x-${name}`) === "yes");
      assert.deepEqual(taking, Object.keys(PLUGINS));
      await router.stop();
    });
  }
});

describe("from the installed package", () => {
  const embedding = `import { createRouter } from "signalbox";
import { defineScorer } from "signalbox/plugin";
import { createPlugin, makeEndpoints, makeLoad, makeRequest } from "signalbox/test-kit";
const even = defineScorer({ type: "even", summary: "", create: () => ({ score: (_, all) => all.map(() => 0.5) }) });
const scores = createPlugin(even).score(makeRequest(), makeEndpoints(2), makeLoad(2));
const router = await createRouter({ urls: [process.argv[2]], plugins: [even] });
await router.whenReady(5000);
const response = await router.fetch(new Request("http://router/v1/models"));
console.log(JSON.stringify([scores, response.status]));
router.close();
`;
  for (const line of ["node embed.mjs", "deno run -A embed.mjs", "bun run embed.mjs"]) {
    it(`${line}: a program embeds the router, and tests a plugin`, { timeout: 60_000 }, async () => {
      write(app, "embed.mjs", embedding);
      const machine = line.startsWith("node") ? "node" : line.startsWith("deno") ? "deno" : "bun";
      const { code, out, err } = await runOn(machine, app, `${line} ${replica.url}`);
      assert.equal(code, 0, err);
      assert.equal(out.trim().split("\n").at(-1), "[[0.5,0.5],200]");
    });
  }

  for (const settings of ["--module nodenext", "--module esnext --moduleResolution bundler"]) {
    it(`a plugin compiles with no other types: ${settings}`, { timeout: 60_000 }, async () => {
      write(app, "plugin.ts", source("typed", TYPED));
      write(app, "wrong.ts", source("wrong").replace("score: () => null", 'score: () => "high"'));
      const tsc = `node ${join(ROOT, "node_modules", "typescript", "bin", "tsc")} --noEmit --strict --target es2022 ${settings}`;
      const { code, out } = await runOn("node", app, `${tsc} plugin.ts`);
      assert.equal(out, "");
      assert.equal(code, 0);
      assert.match((await runOn("node", app, `${tsc} wrong.ts`)).out, /^wrong\.ts\(\d+,\d+\): error/m);
    });
  }
});

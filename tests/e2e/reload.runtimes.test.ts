import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { configOver, rewriteTo, startReloadingRouter } from "../support/reloading.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };

let replica: ScriptedReplica;
before(async () => {
  replica = await startScriptedReplica(answerOk, ["m", "v1", "v2"]);
});
after(() => replica.close());

describe("files that change while the router runs", () => {
  it("are noticed: written, renamed over, one more, one less, mounted anew", TIMEOUT, async () => {
    const router = await startReloadingRouter({}, { isFolder: true, prepare });
    const names = async (generation: number) => {
      const { endpoints, rewrites } = await router.untilGeneration(generation);
      return [...endpoints, ...rewrites].map(({ name }) => name).join(" ");
    };
    assert.equal(await names(1), "one");
    writeFileSync(router.at("..1/router.yaml"), configOver({ written: replica.url }));
    assert.equal(await names(2), "written");
    symlinkSync("..2", router.at("..new"));
    renameSync(router.at("..new"), router.at("..data"));
    assert.equal(await names(3), "mounted");
    writeFileSync(router.at("rewrite.yaml"), rewriteTo({ v1: undefined }));
    assert.equal(await names(4), "mounted food/0");
    rmSync(router.at("rewrite.yaml"));
    assert.equal(await names(5), "mounted");
    assert.equal((await router.status()).config.lastReload?.cause, "files");

    /** As a ConfigMap is mounted: the files are links through `..data`. */
    function prepare(at: (name: string) => string): void {
      for (const [folder, name] of [
        ["..1", "one"],
        ["..2", "mounted"],
      ] as const) {
        mkdirSync(at(folder));
        writeFileSync(at(`${folder}/router.yaml`), configOver({ [name]: replica.url }));
      }
      symlinkSync("..1", at("..data"));
      symlinkSync("..data/router.yaml", at("router.yaml"));
    }
  });
});

describe("SIGHUP", () => {
  it(
    "reads the files at once; whatever is wrong in them is said where people look, and the router goes on",
    TIMEOUT,
    async () => {
      const good = configOver({ a: replica.url });
      const router = await startReloadingRouter({ "signalbox.yaml": good });
      const { process } = router;
      const metric = async (name: string) =>
        Number(new RegExp(`^signalbox_config_${name} (.*)$`, "m").exec((await askFor(process.adminPort, "/metrics")).body)?.[1]);
      const reloadTo = async (text: string) => {
        const { lastReload } = (await router.status()).config;
        router.write("signalbox.yaml", text);
        process.kill("SIGHUP");
        const { config, warnings, endpoints } = await router.untilReload(
          (now) => now.lastReload !== null && now.lastReload.at !== lastReload?.at,
        );
        return { config, warnings, names: endpoints.map(({ name }) => name) };
      };

      const place = `${router.at("signalbox.yaml")}:`;
      const broken: readonly (readonly [text: string, problem: string])[] = [
        [good.replace("pool", "pol"), '4:3  spec.pol  found the unknown key "pol"'],
        [
          `${good}  listen: { host: 0.0.0.0 }\n`,
          `5:19  spec.listen.host  found "0.0.0.0"; wanted "127.0.0.1". It can't change while the router runs`,
        ],
        [`${good}  plugins: [ { from: ./nowhere.ts } ]\n`, '5:22  spec.plugins[0].from  found the module "./nowhere.ts"'],
      ];
      for (const [text, problem] of broken) {
        const { config, warnings, names } = await reloadTo(text);
        assert.equal(config.generation, 1);
        assert.deepEqual(names, ["a"]);
        const [first = ""] = config.lastReload?.problems ?? [];
        assert.ok(first.startsWith(place + problem), first);
        assert.ok(warnings.some((warning) => warning.includes(first)));
        assert.equal(await metric("last_reload_successful"), 0);
        await waitUntil(() => process.errors.includes(JSON.stringify(first).slice(1, -1)));
      }

      const { config, warnings, names } = await reloadTo(configOver({ b: replica.url }));
      assert.deepEqual([config.generation, config.lastReload?.isApplied, names], [2, true, ["b"]]);
      assert.deepEqual(
        warnings.filter((warning) => warning.includes("config")),
        [],
      );
      assert.deepEqual([await metric("generation"), await metric("last_reload_successful")], [2, 1]);
      assert.ok((await metric("last_reload_success_time_seconds")) >= (await metric("generation")));
    },
  );

  it("that comes while another reload is under way is not lost", TIMEOUT, async () => {
    const router = await startReloadingRouter({ "signalbox.yaml": configOver({ a: replica.url }) });
    for (const name of ["b", "c", "d", "e"]) {
      router.write("signalbox.yaml", configOver({ [name]: replica.url }));
      for (let n = 0; n < 3; n++) router.process.kill("SIGHUP");
    }
    await waitUntil(() => router.process.errors.includes("endpoint e added"));
    const { endpoints } = await router.status();
    assert.deepEqual(
      endpoints.map(({ name }) => name),
      ["e"],
    );
  });

  it("whose reload waits for a plugin's module does not make a stop a failure", TIMEOUT, async () => {
    const config = configOver({ a: replica.url });
    const { process, write } = await startReloadingRouter({ "signalbox.yaml": config });
    write("waits.mjs", 'console.error("the module began");\nawait new Promise(() => {});\n');
    write("signalbox.yaml", `${config}  plugins: [ { from: ./waits.mjs } ]\n`);
    process.kill("SIGHUP");
    await waitUntil(() => process.errors.includes("the module began"));
    process.kill("SIGTERM");
    assert.equal((await process.exited).code, 0);
    assert.doesNotMatch(process.errors, /the program ended/);
  });
});

/** A plugin whose page shows its own number and its helper's. */
const showing = (own: number) => `
import { helper } from "./helper.ts";
const options = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
const render = () => \`own ${own} helper \${helper}\`;
export default {
  kind: "observer",
  type: "showing",
  summary: "Shows its version.",
  options,
  create: () => ({ finished() {}, pages: [{ path: "/version", contentType: "text/plain", render }] }),
};
`;
const helper = (version: number) => `export const helper: number = ${version};\n`;

describe("a plugin's file that changes while the router runs", () => {
  it("is loaded anew, and so is a file that it imports; one that is broken is not", TIMEOUT, async () => {
    const config = configOver({ a: replica.url }, "  plugins: [ { from: ./plugin.ts } ]\n");
    const router = await startReloadingRouter({ "helper.ts": helper(1), "plugin.ts": showing(1), "signalbox.yaml": config });
    const page = async () => (await askFor(router.process.adminPort, "/version")).body;
    assert.equal(await page(), "own 1 helper 1");
    router.write("plugin.ts", showing(2));
    await router.untilGeneration(2);
    assert.equal(await page(), "own 2 helper 1");
    router.write("helper.ts", helper(2));
    await router.untilGeneration(3);
    assert.equal(await page(), "own 2 helper 2");
    router.write("plugin.ts", "export default {{");
    await router.untilReload(({ lastReload }) => lastReload?.isApplied === false);
    assert.equal(await page(), "own 2 helper 2");
    router.write("plugin.ts", showing(3));
    await router.untilGeneration(4);
    assert.equal(await page(), "own 3 helper 2");
  });
});

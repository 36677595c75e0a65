import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { built, MACHINES, type Machine, newFolder, packed, runOn, startOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

describe("the package", () => {
  const paths = packed.files.map(({ path }) => path);

  it("has the program, its declarations, assets and documents, and nothing else", () => {
    const code = /^(?:core|config|plugins|apps)\/[\w./-]+\.(?:js|mjs|d\.ts)$/;
    const template = /^examples\/plugins\/[a-z-]+\/(?:plugin\.ts|plugin\.test\.ts|store\.ts|signalbox\.yaml)$/;
    const others = paths.filter((path) => !code.test(path) && !template.test(path)).sort();
    const assets = [
      "apps/admin/page/page.css",
      "apps/admin/page/page.html",
      "config/signalbox.schema.json",
      "docs/guard.svg",
      "docs/sessions-first-token.svg",
    ];
    const document = /^docs\/[\w-]+\.md$/;
    assert.deepEqual(
      others.filter((path) => document.test(path)),
      readdirSync(join(ROOT, "docs"))
        .map((name) => `docs/${name}`)
        .filter((path) => document.test(path))
        .sort(),
    );
    const tables = ["config/ACCESS-LOG.md", "config/LIMITS.md", "plugins/observers/METRICS.md"];
    const service = ["package.conf", "signalbox.service", "take-config.sh"].map((name) => `examples/deploy/${name}`);
    const rest = others.filter((path) => !document.test(path) && ![...tables, ...service].includes(path));
    for (const path of [...tables, ...service]) assert.ok(others.includes(path), path);
    assert.deepEqual(rest, ["CHANGELOG.md", "LICENSE", "README.md", ...assets, "package.json", "sbom.cdx.json"]);
    for (const path of ["apps/cli/bin.mjs", "apps/fetch.js", "core/plugin.d.ts", "core/test-kit.d.ts"])
      assert.ok(paths.includes(path), path);
    assert.ok(!paths.includes("apps/cli/signalbox.mjs"), "it is for checkouts");
  });

  it("lists its parts, each with its licence and its hash, and no tool of the checkout's", () => {
    const { bomFormat, metadata, components, dependencies } = JSON.parse(read("sbom.cdx.json"));
    const { name, version, dependencies: wanted } = JSON.parse(read("package.json"));
    assert.deepEqual([bomFormat, metadata.component.name, metadata.component.version], ["CycloneDX", name, version]);
    const direct = Object.entries(wanted).map(([part, exact]) => `${part}@${exact}`);
    assert.deepEqual(dependencies[0], { ref: `${name}@${version}`, dependsOn: direct });
    const refs: string[] = components.map((component: { "bom-ref": string }) => component["bom-ref"]);
    const needed = new Set(dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn));
    assert.deepEqual(refs.sort(), [...needed].sort());
    assert.ok(!refs.some((ref) => ref.startsWith("typescript@")));
    for (const { licenses, hashes } of components) assert.ok(licenses.length > 0 && hashes.length > 0);
  });

  it("names no TypeScript below node_modules, where Node refuses it", () => {
    const named = paths
      .filter((path) => /\.m?js$/.test(path))
      .filter((path) => /(?:from|import\()\s*"\.[^"]*\.ts"/.test(read(path)));
    assert.deepEqual(named, []);
  });

  it("exports files that it has", () => {
    const { exports, bin } = JSON.parse(read("package.json"));
    const named = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry as object),
    );
    for (const path of [...named, ...Object.values(bin)]) {
      const [start = "", end = ""] = String(path).replace("./", "").split("*");
      assert.ok(
        paths.some((each) => (String(path).includes("*") ? each.startsWith(start) && each.endsWith(end) : each === start)),
        String(path),
      );
    }
  });
});

function read(path: string): string {
  return readFileSync(join(built, path), "utf8");
}

it("a checkout without its tools says on Node 20 what to do", async (t) => {
  if ("typescript" in process.features) return t.skip("this Node runs TypeScript itself");
  const folder = newFolder("no-tools");
  for (const name of ["signalbox.mjs", "early-signals.mjs"]) cpSync(join(ROOT, "apps", "cli", name), join(folder, name));
  const { code, err } = await runOn("node", folder, "node signalbox.mjs start");
  assert.equal(code, 1);
  assert.match(err, /^This Node can't run TypeScript by itself: npm ci .*\n$/);
});

describe("in an empty folder of a machine that has only", () => {
  const lines: Readonly<Record<Machine, string>> = {
    node: "npx --yes signalbox",
    deno: "deno run -A npm:signalbox",
    bun: "bunx signalbox",
  };
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "demo" });
  });
  after(() => replica.close());

  for (const machine of MACHINES) {
    it(`${machine}, "${lines[machine]} start URL" routes requests`, { timeout: 120_000 }, async () => {
      const folder = newFolder(`empty-${machine}`);
      const router = await startOn(machine, folder, `${lines[machine]} start ${replica.url}`);
      const body = JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 });
      const response = await fetch(`${router.url}/v1/chat/completions`, {
        ...{ method: "POST", body },
        headers: { "content-type": "application/json" },
      });
      assert.equal(response.status, 200, await response.text());
      await router.stop();
      const { out } = await runOn(machine, folder, `${lines[machine]} version`);
      assert.match(out, new RegExp(`^signalbox \\d+\\.\\d+\\.\\d+ on ${machine} `, "m"));
    });
  }
});

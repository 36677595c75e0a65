import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { changesBetween } from "../../../config/show/changes.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { poolDocument, rewriteDocument } from "../../support/pools.ts";

const ROUTER = `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { endpoints: [{ url: "http://own:1" }], probes: { readiness: { periodSeconds: 7 } }, auth: { bearer: env:OWN_KEY } }
  admission: { concurrency: 5 }
  scale: {}
`;
process.env["OWN_KEY"] = "own";
process.env["OTHER_KEY"] = "other";
after(() => {
  delete process.env["OWN_KEY"];
  delete process.env["OTHER_KEY"];
});

const load = (text: string, file = "pools.yaml") => loadTexts([{ file, text }], builtIns);

async function loaded(text: string) {
  const found = await load(text);
  if (found.problems !== undefined) throw new Error(found.problems.map(formatProblem).join("\n"));
  return found;
}

async function problemsOf(text: string): Promise<string> {
  return ((await load(text)).problems ?? []).map(formatProblem).join("\n");
}

describe("Pool documents", () => {
  it("have the Router document's sections where they leave them out, and their own of all others", async () => {
    const own = "  profiles: [{ plugins: [{ pluginRef: queue }] }]\n  admission: { concurrency: 9 }";
    const { pools } = await loaded(ROUTER + poolDocument("a", ["http://a:1"]) + poolDocument("b", ["http://b:1"], own));
    const [a, b] = pools.map(({ plan }) => plan.config);
    assert.equal(a!.pool.probes.readiness.periodMs, 7_000);
    assert.equal(a!.settings.credentials, undefined, "the key of other replicas");
    assert.equal((a!.features.get("admission") as { concurrency: number }).concurrency, 5);
    assert.equal((b!.features.get("admission") as { concurrency: number }).concurrency, 9);
    assert.equal(a!.features.get("scale"), undefined);
    assert.ok(b!.profile.plugins.some(({ pluginRef }) => pluginRef === "queue"));
    assert.deepEqual([...new Set(a!.plugins.map(({ type }) => type))].includes("access-log"), false);
  });

  it("may not ask for what another one asks for, nor share a name, an endpoint or a plugin of the whole router", async () => {
    const text =
      poolDocument("a", ["http://a:1"], "  models: [x, y]") +
      poolDocument("b", ["http://b:1"], "  models: [y]") +
      poolDocument("b", ["http://own:1"], "  headers: { x-a: [b] }") +
      poolDocument("default", ["http://d:1"]) +
      poolDocument("e", ["http://e:1"], "  plugins: [{ type: access-log }]") +
      poolDocument("f", []);
    const problems = await problemsOf(ROUTER + text);
    assert.match(problems, /spec\.models\[0\].*the model "y", for which the pool "a" asks too/);
    assert.match(problems, /the name "b", which the pool of pools\.yaml has/);
    assert.match(problems, /the endpoint "own-1", which the pool "default" has too/);
    assert.match(problems, /the name "default", which the pool of the Router document has/);
    assert.match(problems, /the observer "access-log" in a Pool; wanted it in spec\.plugins of the Router document/);
    assert.match(problems, /spec\.pool\.endpoints.*no endpoints/);
  });

  it("are named where there is one: unknown pools, a pool's own fallback, and typing errors have their place", async () => {
    const text =
      poolDocument("batch", ["http://b:1"], "  fallback: [batch, defalt]\n  modles: [x]") +
      rewriteDocument("r", "m", "{ modelRewrite: m, pool: bach }");
    assert.match(await problemsOf(ROUTER + text), /the unknown key "modles".*Did you mean "models"/s);
    const problems = await problemsOf(ROUTER + text.replace("  modles: [x]\n", ""));
    assert.match(problems, /spec\.fallback\[0\].*this pool itself/);
    assert.match(problems, /spec\.fallback\[1\].*"defalt", which is no pool.*Did you mean "default"/);
    const rule = ROUTER + poolDocument("batch", ["http://b:1"]) + rewriteDocument("r", "m", "{ modelRewrite: m, pool: bach }");
    assert.match(await problemsOf(rule), /targets\[0\]\.pool.*"bach", which is no pool.*Did you mean "batch"/);
    assert.match(await problemsOf(`${ROUTER}  fallback: [none]\n`), /spec\.fallback\[0\].*"none", which is no pool/);
  });

  it("are compared when the config changes, keys included", async () => {
    const pool = (key: string) =>
      poolDocument("a", ["http://a:1"], "  models: [x]").replace("pool: {", `pool: { auth: { bearer: env:${key} },`);
    const [before, after] = [await loaded(ROUTER + pool("OWN_KEY")), await loaded(ROUTER + pool("OTHER_KEY"))];
    assert.deepEqual(changesBetween(before, before), []);
    assert.deepEqual(changesBetween(before, after), ["pool a: the replicas' keys changed"]);
    assert.deepEqual(changesBetween(before, await loaded(ROUTER)), ["pool a removed"]);
  });

  it("do not send clients' keys on where the router knows clients by them", async () => {
    const auth = `  auth: { keys: [{ name: k, sha256: ${"a".repeat(64)} }] }\n`;
    const { pools } = await loaded(ROUTER + auth + poolDocument("a", ["http://a:1"]));
    assert.equal(pools[0]!.plan.config.settings.credentials?.isForwarded, false);
  });
});

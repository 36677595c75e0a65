import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { killAll, type Running, run as runCommand, signalboxWith, until } from "../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-operators-"));
const file = join(folder, "signalbox.yaml");
const REWRITE = `# The rollout of the food adapters.
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { name: llama }
  rules:
    - matches: [{ model: { value: food-review } }]
      targets:
        - { modelRewrite: v1, weight: 90 } # stable
        - { modelRewrite: v2, weight: 10 } # new
`;

let replicas: Awaited<ReturnType<typeof startMockReplica>>[];
let router: Running;
let admin: string;

before(async () => {
  const both = { model: "base", adapters: ["v1", "v2"], timeScale: 0 };
  replicas = await Promise.all([both, { ...both, adapters: ["v1", "v2", "rare"] }].map((options) => startMockReplica(options)));
  const endpoints = replicas.map(({ url }, index) => `      - { name: gpu${index + 1}, url: "${url}" }\n`).join("");
  const token = '{ token: "env:SIGNALBOX_TEST_TOKEN" }';
  const spec = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: ${token}\n  pool:\n    name: llama\n    endpoints:\n${endpoints}`;
  writeFileSync(file, `${spec}---\n${REWRITE}`);
  router = signalboxWith({ SIGNALBOX_TEST_TOKEN: "open-sesame" }, "start", "-f", file, "--port", "0", "--admin-port", "0");
  await until(() => router.output.err.includes("Status page"));
  admin = /Status page: (http:\/\/[^/]+)\//.exec(router.output.err)?.[1] ?? "";
  process.env["SIGNALBOX_ADMIN_TOKEN"] = "open-sesame";
});
after(async () => {
  delete process.env["SIGNALBOX_ADMIN_TOKEN"];
  killAll();
  await Promise.all(replicas.map((replica) => replica.close()));
  rmSync(folder, { recursive: true });
});

const run = (...argv: string[]) => runCommand(...argv, "--admin", admin);
const json = async (...argv: string[]) => JSON.parse((await run(...argv, "--json")).out) as Record<string, unknown>;

describe("an operator's commands against a running router", { timeout: 120_000 }, () => {
  it("split-test counts what the weights say, and says so when it is otherwise", async () => {
    const good = await run("split-test", "food-review");
    assert.equal(good.code, 0, good.out + good.err);
    assert.match(good.out, /^v1 +90 +18 +18$/m);
    assert.match(good.out, /^v2 +10 +2 +2$/m);
    const completions = await json("split-test", "food-review", "--path", "/v1/messages", "--requests", "10");
    assert.deepEqual([completions["requests"], completions["isAsWeighted"]], [10, true]);
    assert.equal((await run("split-test", "nobody")).code, 2);
  });

  it("weights change a rewrite beside its file, and revert drops that", async () => {
    const changed = await run("weights", "food-review", "v1=0", "v2=100");
    assert.equal(changed.code, 0, changed.err);
    assert.match(changed.out, /food-review \(admin API, by admin \(127\.0\.0\.1\) at .*\)\n {2}food-review -> v1 0, v2 100/);
    assert.match((await run("split-test", "food-review", "--requests", "5")).out, /^v2 +100 +5 +5$/m);
    assert.match((await run("status")).out, /rewrite food-review changed beside the files by admin \(127\.0\.0\.1\)/);
    assert.equal((await run("revert", "rewrite", "food-review")).code, 0);
    assert.match((await run("get", "rewrites")).out, /food-review \(.*signalbox\.yaml:\d+:1\)\n {2}food-review -> v1 90, v2 10/);
    assert.match(router.output.err, /Changed through the admin API.*rewrite food-review/);
  });

  it("weights --write changes the numbers in the file and nothing else", async () => {
    const before = readFileSync(file, "utf8");
    const { code, out, err } = await run("weights", "food-review", "v1=50", "v2=50", "--write");
    assert.equal(code, 0, err);
    assert.match(out, /written to .*signalbox\.yaml/);
    assert.equal(readFileSync(file, "utf8"), before.replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50"));
    assert.deepEqual(((await json("status"))["config"] as { overlay: unknown[] }).overlay, []);
    writeFileSync(file, before);
    assert.equal((await run("reload")).code, 0);
  });

  it("apply creates and delete removes a rewrite", async () => {
    const own = join(folder, "drinks.yml.txt");
    writeFileSync(own, REWRITE.replaceAll("food-review", "drinks"));
    assert.equal((await run("apply", "-f", own)).code, 0);
    const names = async () => ((await json("get", "rewrites"))["rewrites"] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(await names(), ["food-review", "drinks"]);
    assert.equal((await run("delete", "rewrite", "drinks")).code, 0);
    assert.deepEqual(await names(), ["food-review"]);
    writeFileSync(own, REWRITE.replaceAll("llama", "other"));
    const refused = await run("apply", "-f", own);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /found "other", which is not this router's pool[\s\S]*nothing was changed/);
  });

  it("apply and delete with --write change the file, and nothing is left beside it", async () => {
    const before = readFileSync(file, "utf8");
    const own = join(folder, "drinks.yml.txt");
    writeFileSync(own, REWRITE.replaceAll("food-review", "drinks"));
    assert.equal((await run("apply", "-f", own, "--write")).code, 0);
    assert.ok(readFileSync(file, "utf8").startsWith(before));
    assert.match((await run("get", "rewrites")).out, /^drinks \(.*signalbox\.yaml:\d+:1\)$/m);
    assert.equal((await run("delete", "rewrite", "drinks", "--write")).code, 0);
    assert.equal(readFileSync(file, "utf8"), before);
    assert.deepEqual(((await json("status"))["config"] as { overlay: unknown[] }).overlay, []);
  });

  it("config fmt formats a file; config print shows what is left", async () => {
    const own = join(folder, "own.yaml");
    writeFileSync(own, readFileSync(file, "utf8").replace("name: llama", "name:   llama"));
    assert.deepEqual(await runCommand("config", "fmt", own, "--check"), { code: 1, out: `${own}: is not formatted\n`, err: "" });
    assert.equal((await runCommand("config", "fmt", own)).code, 0);
    assert.equal((await runCommand("config", "fmt", own, "--check")).code, 0);
    process.env["SIGNALBOX_TEST_TOKEN"] = "any";
    const printed = await runCommand("config", "print", "-f", own);
    delete process.env["SIGNALBOX_TEST_TOKEN"];
    assert.match(printed.out, /^ {4}name: llama$/m);
    assert.doesNotMatch(printed.out, /limits|any/);
  });

  it("a drained endpoint gets nothing and is empty; a cordoned one gets what only it serves", async () => {
    assert.match(
      (await run("drain", "gpu1", "--reason", "new driver")).out,
      /^gpu1: draining: new driver; .*; empty, so it can be taken away$/m,
    );
    const phases = async () => ((await json("get", "endpoints"))["endpoints"] as { phase: string }[]).map(({ phase }) => phase);
    assert.deepEqual(await phases(), ["draining", "ready"]);
    assert.equal((await run("undrain", "gpu1")).code, 0);
    assert.equal((await run("cordon", "gpu2", "--for", "10m")).code, 0);
    assert.deepEqual(await phases(), ["ready", "cordoned"]);
    const url = /listening on (http:\S+)/.exec(router.output.err)?.[1] ?? "";
    const served = async (model: string) => {
      const body = JSON.stringify({ model, prompt: "x", max_tokens: 1 });
      const response = await fetch(`${url}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      await response.text();
      return response.headers.get("x-signalbox-endpoint");
    };
    assert.deepEqual([await served("base"), await served("v1"), await served("rare")], ["gpu1", "gpu1", "gpu2"]);
    assert.equal((await run("undrain", "gpu2")).code, 0);
    assert.deepEqual(await phases(), ["ready", "ready"]);
    assert.equal((await run("drain", "gpu3")).code, 2);
  });

  it("a change needs the token, which appears nowhere", async () => {
    process.env["SIGNALBOX_ADMIN_TOKEN"] = "open-sesam";
    const refused = await run("drain", "gpu1").finally(() => {
      process.env["SIGNALBOX_ADMIN_TOKEN"] = "open-sesame";
    });
    assert.equal(refused.code, 2);
    assert.match(refused.err, /Authorization: Bearer TOKEN/);
    const printed = [
      await run("config", "print", "--effective"),
      await run("config", "print", "--json"),
      await run("status", "--json"),
    ];
    assert.match(printed[0]!.out, /token: env:SIGNALBOX_TEST_TOKEN # .*signalbox\.yaml:4:/);
    assert.match(printed[0]!.out, /name: llama # .*signalbox\.yaml:6:/);
    assert.match(printed[0]!.out, /forwardedFor: replace # default/);
    const texts = [router.output.out, router.output.err, ...printed.map(({ out, err }) => out + err)];
    for (const text of texts) assert.doesNotMatch(text, /open-sesam/);
  });

  it("reload says what is wrong with the files, and the old config runs on", async () => {
    const before = readFileSync(file, "utf8");
    writeFileSync(file, before.replace("weight: 90", "weight: -1"));
    const refused = await run("reload");
    assert.equal(refused.code, 1);
    assert.match(refused.err, /signalbox\.yaml:\d+:\d+ .*weight/);
    assert.equal((await run("status")).code, 3);
    writeFileSync(file, before);
    assert.equal((await run("reload")).code, 0);
    assert.equal((await run("status")).code, 0);
  });
});

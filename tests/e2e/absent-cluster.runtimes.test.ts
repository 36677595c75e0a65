import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { killAll, type Running, signalbox } from "../support/cli.ts";
import { startRouterProcess } from "../support/router-process.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-absent-"));
after(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

/** Nothing listens at its server's port. */
const KUBECONFIG = JSON.stringify({
  "current-context": "x",
  clusters: [{ name: "x", cluster: { server: "http://127.0.0.1:1" } }],
  users: [{ name: "x", user: { token: "t" } }],
  contexts: [{ name: "x", context: { cluster: "x", user: "x", namespace: "llm" } }],
});

const kubernetes = `  kubernetes: { kubeconfig: ${join(folder, "kubeconfig")}, resources: true }\n`;
writeFileSync(join(folder, "kubeconfig"), KUBECONFIG);

describe("a router whose cluster can't be reached", () => {
  let refused: Running;
  before(() => {
    const file = join(folder, "needs.yaml");
    const mirrors = "  mirrors: [ { rule: food-review, target: v2, percent: 5 } ]\n";
    writeFileSync(file, `apiVersion: signalbox/v1\nkind: Router\nspec:\n${kubernetes}${mirrors}`);
    // Both wait for the cluster for seconds: at the same time.
    refused = signalbox("start", "http://127.0.0.1:2", "-f", file);
  });

  it("starts with its files alone, and says so", { timeout: 60_000 }, async () => {
    const router = await startRouterProcess(["http://127.0.0.1:2"], { spec: kubernetes });
    assert.match(router.errors, /The Kubernetes API can't be watched/);
    assert.match(router.errors, /The Kubernetes API has not told its resources yet: the router starts without them/);
    router.kill("SIGTERM");
    assert.equal((await router.exited).code, 0);
  });

  it("does not start where its files need a resource, and names it", { timeout: 60_000 }, async () => {
    assert.equal(await refused.ended, 1);
    assert.match(refused.output.err, /needs\.yaml:5:\d+ {2}spec\.mirrors\[0\]\.rule {2}found "food-review"/);
  });
});

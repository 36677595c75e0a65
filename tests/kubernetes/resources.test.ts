import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import {
  apply,
  CRDS,
  conditionOf,
  eventually,
  installKinds,
  kubectl,
  NO_CRDS,
  put,
  rewriteOf,
} from "../support/cluster-resources.ts";
import { type ClusterRouters, startClusterRouters } from "../support/cluster-router.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";

const TIMEOUT = { timeout: 120_000 };
const SKIP = NO_KUBERNETES || NO_CRDS || false;
const kubernetes = sharedKubernetes(SKIP);

describe("a router that follows the resources of a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  /** Their namespace is "followed". */
  let cluster: ClusterRouters;
  before(async () => {
    server = await kubernetes.get();
    await installKinds(server);
    cluster = await startClusterRouters(server, "followed");
  }, TIMEOUT);
  after(async () => {
    await cluster?.close();
    await kubernetes.release();
  });

  /** Applies a rewrite and waits until its status says what became of it. */
  async function applied(document: ReturnType<typeof rewriteOf>, status: string) {
    await apply(server, document);
    return eventually(
      async () => {
        const condition = await conditionOf(server, document);
        return condition?.status === status && condition.isOfNow && condition;
      },
      `Accepted is ${status} for ${JSON.stringify(document.spec.rules)}`,
    );
  }

  it("shifts traffic as rollouts apply the rewrite again: baseline, 90/10, 50/50, cutover", TIMEOUT, async () => {
    const { ask, counted } = cluster;
    const phases: readonly (readonly [Readonly<Record<string, number | undefined>>, readonly number[]])[] = [
      [{ "food-review-v1": undefined }, [100, 0]],
      [{ "food-review-v1": 90, "food-review-v2": 10 }, [90, 10]],
      [{ "food-review-v1": 50, "food-review-v2": 50 }, [50, 50]],
      [{ "food-review-v2": 100 }, [0, 100]],
    ];
    for (const [targets, shares] of phases) {
      await applied(rewriteOf("followed", "food-review", targets), "True");
      for (let sent = 0; sent < 100; sent += 1) assert.match(String(await ask("food-review")), /^food-review-v[12]$/);
      const counts = counted(100);
      const found = ["food-review-v1", "food-review-v2"].map((name) => counts[name] ?? 0);
      const isClose = shares.every((share, index) => Math.abs(found[index]! - share) <= (share % 100 === 0 ? 0 : 3));
      assert.ok(isClose, `${found} instead of ${shares}`);
    }
  });

  it("rejects a resource alone, tells it why, and uses its last good state on", TIMEOUT, async () => {
    const { ask, status } = cluster;
    await put(server, rewriteOf("followed", "good", { "food-review-v1": 1 }));
    await applied(rewriteOf("followed", "turns-bad", { "food-review-v1": 1 }), "True");
    const bad = rewriteOf("followed", "turns-bad", { "food-review-v1": 1, "food-review-v2": undefined });
    const { reason, message } = await applied(bad, "False");
    assert.equal(reason, "Invalid");
    assert.match(message, /^spec\.rules\[0\]\.targets\[1\] {2}found a target without a weight.*\nThe state of it that was good/);
    assert.deepEqual([await ask("turns-bad"), await ask("good")], ["food-review-v1", "food-review-v1"]);
    await applied(rewriteOf("followed", "good", { "food-review-v2": 1 }), "True");
    assert.equal(await ask("good"), "food-review-v2");
    const { warnings } = await status();
    assert.match(warnings.join("\n"), /InferenceModelRewrite followed\/turns-bad can't run, so its last good state runs/);

    const described = await eventually(async () => {
      const text = await kubectl(server, ["describe", "-n", "followed", "inferencemodelrewrite", "turns-bad"]);
      return text.includes("Rejected") && text;
    }, "an event");
    assert.match(described, /Warning +Rejected .*spec\.rules\[0\]\.targets\[1\] {2}found a target without a weight/);
    await kubectl(server, ["delete", "-n", "followed", "inferencemodelrewrite", "turns-bad"]);
    await eventually(async () => (await ask("turns-bad")) === 404, "the deleted rewrite is gone");
    assert.deepEqual(await status().then((now) => now.warnings), []);
  });

  it("says which target no replica has until one has it, and that another rewrite takes its model", TIMEOUT, async () => {
    const { ask } = cluster;
    const nowhere = rewriteOf("followed", "nowhere", { "food-review-v9": 1 });
    await applied(nowhere, "True");
    const refs = (status: string) =>
      eventually(async () => {
        const condition = await conditionOf(server, nowhere, "ResolvedRefs");
        return condition?.status === status && condition;
      }, `ResolvedRefs is ${status}`);
    const { reason, message } = await refs("False");
    assert.equal(reason, "TargetNotFound");
    assert.match(message, /^No replica of the pool llama has "food-review-v9":/);
    assert.equal(await ask("nowhere"), 503);
    await applied(rewriteOf("followed", "nowhere", { "food-review-v1": 1 }), "True");
    await refs("True");
    const second = { ...rewriteOf("followed", "nowhere-again", { "food-review-v2": 1 }), spec: nowhere.spec };
    assert.equal((await applied(second, "False")).reason, "Conflicted");
    assert.equal(await ask("nowhere"), "food-review-v1");
  });

  it("leaves resources of other pools and namespaces alone", TIMEOUT, async () => {
    const { ask, status } = cluster;
    await put(
      server,
      rewriteOf("followed", "theirs", { "food-review-v1": 1 }, "another-pool"),
      rewriteOf("default", "far", { "food-review-v1": 1 }),
    );
    await applied(rewriteOf("followed", "ours", { "food-review-v1": 1 }), "True");
    assert.deepEqual([await ask("ours"), await ask("theirs"), await ask("far")], ["food-review-v1", 404, 404]);
    const { resources } = (await status()).resources;
    const states = Object.fromEntries(resources.map(({ name, state }) => [name, state]));
    assert.equal(states["InferenceModelRewrite followed/ours"], "used");
    assert.equal(states["InferenceModelRewrite followed/theirs"], "elsewhere");
    assert.ok(resources.every(({ name }) => name.includes(" followed/")));
    assert.equal(await conditionOf(server, rewriteOf("followed", "theirs", {})), undefined, "others write its status");
  });

  it("takes the sections of the Router that its file names, and others when they change", TIMEOUT, async () => {
    const router = (spec: object) => ({
      apiVersion: "signalbox.dev/v1",
      kind: "Router",
      metadata: { name: "main", namespace: "sections" },
      spec,
    });
    const { routers, close } = await startClusterRouters(server, "sections", {
      documents: [router({ responseHeaders: false }), rewriteOf("sections", "food-review", { "food-review-v1": 1 })],
      more: ", router: main",
    });
    after(close);
    const headers = async () => {
      const answer = await fetch(`http://127.0.0.1:${routers[0]!.port}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "base", prompt: "Hello", max_tokens: 1 }),
      });
      await answer.text();
      return answer.headers.has("x-signalbox-endpoint");
    };
    assert.equal(await headers(), false);
    await put(server, router({ responseHeaders: true, limits: { retries: 1 } }));
    await eventually(headers, "the changed Router runs");
    const columns = await eventually(async () => {
      const text = await kubectl(server, ["get", "-n", "sections", "router", "main", "--no-headers"]);
      return text.includes("True") && text;
    }, "its status");
    assert.match(columns, /^main +True/);
    const { status } = JSON.parse(await kubectl(server, ["get", "-n", "sections", "router", "main", "-o", "json"])) as {
      readonly status: { readonly targets: readonly { readonly target: string; readonly requests: number }[] };
    };
    assert.deepEqual(
      status.targets.map(({ target, requests }) => [target, requests]),
      [["food-review-v1", 0]],
    );
    await assert.rejects(apply(server, router({ listen: { port: 1 } })), /unknown field "spec\.listen"/);
  });

  it(
    "takes the resources of the older API group once that is installed, unless the newer one has the same",
    TIMEOUT,
    async () => {
      const { ask } = cluster;
      await put(server, rewriteOf("followed", "both", { "food-review-v1": 1 }));
      const older = readFileSync(`${CRDS}/llm-d.ai_inferencemodelrewrites.yaml`, "utf8").replaceAll(
        /(name: inferencemodelrewrites\.|group: )llm-d\.ai/g,
        "$1inference.networking.x-k8s.io",
      );
      await apply(server, older);
      await kubectl(server, ["wait", "--for=condition=Established", "crd/inferencemodelrewrites.inference.networking.x-k8s.io"]);
      const old = (name: string) => {
        const document = rewriteOf("followed", name, { "food-review-v2": 1 });
        return { ...document, apiVersion: "inference.networking.x-k8s.io/v1alpha2" };
      };
      await put(server, old("alone"), old("both"));
      await eventually(async () => (await ask("alone")) === "food-review-v2", "the kind that came later is followed");
      assert.equal(await ask("both"), "food-review-v1");
      const condition = await eventually(async () => {
        const found = await conditionOf(server, old("both"));
        return found?.status === "False" && found;
      }, "the second one of the same name is told");
      assert.match(condition.message, /the InferenceModelRewrite "both" a second time/);
    },
  );

  it("is explained by kubectl, and refuses what its schema does not have", TIMEOUT, async () => {
    const text = await kubectl(server, ["explain", "router.spec.pool"]);
    assert.match(
      text,
      /FIELD: pool <Object>[\s\S]*The replicas that requests are routed to\.[\s\S]*forwardCredentials\s<boolean>/,
    );
    const document = { apiVersion: "signalbox.dev/v1", kind: "Router", metadata: { name: "x", namespace: "default" } };
    await assert.rejects(apply(server, { ...document, spec: { limits: { settleMs: "soon" } } }), /spec\.limits\.settleMs/);
    await assert.rejects(apply(server, { ...document, spec: { plugins: [{ name: "x" }] } }), /each plugin has a type/);
    await apply(server, { ...document, spec: { limits: { settleMs: "10s" }, ejection: false } });
  });
});

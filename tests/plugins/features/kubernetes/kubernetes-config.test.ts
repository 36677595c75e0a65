import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTexts } from "../../../../config/load.ts";
import { formatProblem } from "../../../../config/read/problems.ts";
import { changesBetween } from "../../../../config/show/changes.ts";
import { effectiveConfig } from "../../../../config/show/effective.ts";
import { builtIns } from "../../../../plugins/registry.ts";

const REWRITE = `
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: r }
spec: { poolRef: { group: inference.networking.k8s.io, name: vllm }, rules: [ { targets: [ { modelRewrite: v1 } ] } ] }
`;

const load = (lines: string, pool = "", documents = "") =>
  loadTexts(
    [{ file: "conf/s.yaml", text: `apiVersion: signalbox/v1\nkind: Router\nspec:\n${pool}  kubernetes: ${lines}\n${documents}` }],
    builtIns,
  );

async function loaded(...given: Parameters<typeof load>) {
  const config = await load(...given);
  if (config.problems !== undefined) assert.fail(config.problems.map(formatProblem).join("\n"));
  return config;
}

describe("spec.kubernetes", () => {
  it("needs no endpoints, and calls the pool like its InferencePool", async () => {
    const { config } = await loaded("{ inferencePool: vllm }", "", REWRITE);
    assert.equal(config.pool.name, "vllm");
    assert.deepEqual(
      config.plugins.filter(({ type }) => type === "kubernetes").map(({ name }) => name),
      ["kubernetes/replicas"],
    );
    assert.equal((await loaded("{ selector: { app: vllm } }")).config.pool.name, "default");
    assert.equal((await loaded("{ service: vllm }", "  pool: { name: vllm }\n", REWRITE)).config.pool.name, "vllm");
  });

  it("is shown with its defaults, and what another one changes", async () => {
    const one = await loaded("{ inferencePool: vllm, kubeconfig: kube/config, context: dev, namespace: llm }");
    const { router, origins } = effectiveConfig(one, {});
    assert.deepEqual(JSON.parse(JSON.stringify(router.spec["kubernetes"])), {
      kubeconfig: `${process.cwd()}/conf/kube/config`,
      context: "dev",
      namespace: "llm",
      inferencePool: "vllm",
      ports: { prefill: [8000], decode: [8200] },
      resources: false,
    });
    assert.equal(origins["spec.kubernetes.inferencePool"], "conf/s.yaml:4:32");
    assert.ok(!JSON.stringify(router.spec["plugins"]).includes("kubernetes"));
    const other = await loaded("{ inferencePool: vllm, namespace: other }");
    assert.match(changesBetween(one, other).join("\n"), /^kubernetes changed: replicas of the InferencePool vllm in other$/);
    assert.deepEqual(changesBetween(one, one), []);
  });

  const refused: readonly (readonly [lines: string, problem: RegExp, pool?: string])[] = [
    [
      "{}",
      /spec\.kubernetes {2}found nothing that is wanted of the cluster; wanted one of: inferencePool, selector, service, resources/,
    ],
    ["{ resources: true }", /spec\.pool\.endpoints {2}found no endpoints/],
    ["{ inferencePool: a, service: b }", /found service beside inferencePool; wanted one of them/],
    ["{ selector: { app: a }, servicePort: b }", /found servicePort without service/],
    ["{ selector: {} }", /at least one label/],
    ["{ selector: { 'a b': c } }", /keys of labels/],
    ["{ selector: { a: 'c d' } }", /a label's value/],
    ["{ inferencePool: A_B }", /a name as Kubernetes has them/],
    ["{ inferencePool: a, ports: { decode: [] } }", /at least one port/],
    ["{ inferencePool: a, ports: { decode: [1, 1] } }", /each port once/],
    ["{ inferencePool: a, ports: { decode: [0] } }", /a whole number from 1 to 65535/],
    ["{ inferencePool: a }", /spec\.pool\.name {2}found "b" beside the pool "a" of spec\.kubernetes/, "  pool: { name: b }\n"],
  ];
  for (const [lines, problem, pool] of refused) {
    it(`is refused as ${lines}`, async () => {
      const { problems = [] } = await load(lines, pool);
      assert.equal(problems.length, 1, problems.map(formatProblem).join("\n"));
      assert.match(formatProblem(problems[0]!), problem);
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settle } from "../../../../apps/kubernetes/resources/settle.ts";
import { type LoadedConfig, loadTexts, type RefusedConfig } from "../../../../config/load.ts";
import type { ConfigText } from "../../../../config/read/files.ts";
import { formatProblem } from "../../../../config/read/problems.ts";
import { builtIns } from "../../../../plugins/registry.ts";

const ROUTER = `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { name: llama, endpoints: [ { url: "http://gpu1:8000" } ] }
`;

const rewrite = (name: string, target: string): ConfigText => ({
  file: `InferenceModelRewrite llm/${name}`,
  text: "",
  resource: {
    apiVersion: "llm-d.ai/v1alpha2",
    kind: "InferenceModelRewrite",
    metadata: { name, namespace: "llm" },
    spec: {
      poolRef: { name: "llama" },
      rules: [{ matches: [{ model: { value: name } }], targets: target === "" ? [] : [{ modelRewrite: target }] }],
    },
  },
});

/** What settles of the newest resources beside those that run: the targets of the rules, and why resources are not used. */
async function settled(newest: readonly ConfigText[], running: readonly ConfigText[], router = ROUTER) {
  let loads = 0;
  const { result, rejected } = await settle<LoadedConfig | RefusedConfig>(newest, running, (resources) => {
    loads += 1;
    return loadTexts([{ file: "a.yaml", text: router }, ...resources], builtIns);
  });
  const why = [...rejected].map(([name, problems]) => [name, problems.map(formatProblem).join("\n")]);
  return { targets: result.config?.rewrites.map(({ targets }) => targets[0]?.name), rejected: Object.fromEntries(why), loads };
}

describe("of a cluster's resources", () => {
  it("all that are good are used at once", async () => {
    assert.deepEqual(await settled([rewrite("a", "a1"), rewrite("b", "b1")], []), {
      targets: ["a1", "b1"],
      rejected: {},
      loads: 1,
    });
  });

  it("a bad one takes no other one down, and is named with what is wrong", async () => {
    const { targets, rejected } = await settled([rewrite("a", ""), rewrite("b", "b1")], []);
    assert.deepEqual(targets, ["b1"]);
    assert.deepEqual(rejected, {
      "InferenceModelRewrite llm/a":
        "InferenceModelRewrite llm/a  spec.rules[0].targets  found an empty list; wanted at least 1 item.",
    });
  });

  it("the last good state of a bad one stays, while others change and go", async () => {
    const running = [rewrite("a", "a1"), rewrite("b", "b1"), rewrite("c", "c1")];
    const { targets, rejected } = await settled([rewrite("a", ""), rewrite("b", "b2")], running);
    assert.deepEqual(targets, ["a1", "b2"]);
    assert.deepEqual(Object.keys(rejected), ["InferenceModelRewrite llm/a"]);
  });

  it("two hundred with one that is bad load twice", async () => {
    const many = Array.from({ length: 200 }, (_, index) => rewrite(`m${index}`, index === 77 ? "" : "t"));
    const { targets, loads } = await settled(many, []);
    assert.deepEqual([targets?.length, loads], [199, 2]);
  });

  const MIRRORED = `${ROUTER}  mirrors: [ { rule: a, target: a1, percent: 5 } ]\n`;
  it("one that a file needs can't go, and keeps no other one from changing", async () => {
    const { targets, rejected } = await settled([rewrite("b", "b2")], [rewrite("a", "a1"), rewrite("b", "b1")], MIRRORED);
    assert.deepEqual(targets?.toSorted(), ["a1", "b2"]);
    assert.match(rejected["InferenceModelRewrite llm/a"]!, /^a\.yaml:5:\d+ {2}spec\.mirrors\[0\]\.rule/);
  });

  it("none is blamed for a file that is wrong", async () => {
    const { targets, rejected } = await settled([rewrite("b", "b2")], [rewrite("b", "b1")], `${ROUTER}  limts: {}\n`);
    assert.deepEqual([targets, rejected], [undefined, {}]);
  });
});

/** The example of prompts and answers on pods of their own: its documents agree with each other and with what the router makes of them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadTexts } from "../../config/load.ts";
import { formatProblem } from "../../config/read/problems.ts";
import { Roles } from "../../plugins/features/disaggregation/roles.ts";
import { portsOfPods, readPod } from "../../plugins/features/kubernetes/pods.ts";
import { builtIns } from "../../plugins/registry.ts";
import { makeEndpoint } from "../support/endpoints.ts";
import { exampleText } from "./example-files.ts";

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly [Container] };
    };
  };
}

const documents = parseAllDocuments(exampleText("deploy/pair.yaml"));
const all = documents.map((document) => document.toJS() as Manifest);
const templateOf = (name: string) =>
  all.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name)!.spec!.template!;

/** The endpoint that the router makes of a pod of this Deployment. */
function endpointOf(name: string, slot: number) {
  const { labels } = templateOf(name).metadata;
  const status = { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] };
  const pod = readPod({ metadata: { name, labels }, status })!;
  const [{ spec } = assert.fail()] = portsOfPods([pod], { prefill: [8000], decode: [8200], standalone: undefined }, []);
  return { spec, endpoint: makeEndpoint(slot, { labels: spec.labels ?? {} }) };
}

describe("deploy/pair.yaml", () => {
  it("has valid documents, and Deployments that select their own pods", () => {
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    for (const { kind, spec } of all)
      if (kind === "Deployment") assert.deepEqual(spec!.selector!.matchLabels, spec!.template!.metadata.labels);
  });

  it("has a config that can run and finds the pods of both", async () => {
    const text = all.find(({ kind }) => kind === "ConfigMap")!.data!["signalbox.yaml"]!;
    const { config, problems = [] } = await loadTexts([{ file: "signalbox.yaml", text }], builtIns);
    assert.deepEqual(problems.map(formatProblem), []);
    assert.ok(config!.features.get("disaggregation"));
    const { labels } = (config!.features.get("kubernetes") as { readonly replicas: { readonly labels: object } }).replicas;
    for (const name of ["vllm-prefill", "vllm-decode"])
      for (const [key, value] of Object.entries(labels)) assert.equal(templateOf(name).metadata.labels[key], value);
  });

  it("makes pairs: each pod has its role, and listens where the router asks", () => {
    const roles = new Roles(undefined);
    const prefill = endpointOf("vllm-prefill", 0);
    const decode = endpointOf("vllm-decode", 1);
    assert.deepEqual([roles.isPrefill(prefill.endpoint), roles.isDecode(prefill.endpoint)], [true, false]);
    assert.deepEqual([roles.isPrefill(decode.endpoint), roles.isDecode(decode.endpoint)], [false, true]);
    for (const [name, { spec }] of [
      ["vllm-prefill", prefill],
      ["vllm-decode", decode],
    ] as const) {
      const [{ args, ports }] = templateOf(name).spec.containers;
      const port = new URL(spec.url).port;
      assert.ok(args.includes(`--port=${port}`), name);
      assert.equal(ports.find((each) => each.name === "http")?.containerPort, Number(port));
    }
  });
});

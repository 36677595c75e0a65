import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { commandsOf } from "../../apps/cli/commands.ts";
import { readInput } from "../../apps/cli/frame/command.ts";
import { loadTexts } from "../../config/load.ts";
import { builtIns } from "../../plugins/registry.ts";
import { exampleText } from "./example-files.ts";

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly readinessProbe: { readonly grpc: { readonly port: number } };
}

/** What of all kinds of manifests is looked at; each has its own part of the spec. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
  readonly rules?: unknown;
  readonly spec: {
    readonly template: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly Container[] };
    };
    readonly endpointPickerRef: { readonly name: string; readonly port: { readonly number: number } };
    readonly ports: readonly { readonly port: number }[];
  };
}

describe("gateway/gateway-api.yaml", () => {
  const manifests = parseAllDocuments(exampleText("gateway/gateway-api.yaml")).map((document) => document.toJS() as Manifest);
  const one = (kind: string) => manifests.find((manifest) => manifest.kind === kind)!;

  it("has a config that loads, and time to drain", async () => {
    const text = one("ConfigMap").data["signalbox.yaml"] ?? "";
    const loaded = await loadTexts([{ file: "signalbox.yaml", text }], builtIns);
    assert.equal(loaded.problems, undefined);
    const { settleMs, drainTimeoutMs } = loaded.config!.settings.limits;
    assert.ok(one("Deployment").spec.template.spec.terminationGracePeriodSeconds * 1000 > settleMs + drainTimeoutMs);
  });

  it("may do what a router in front of a pool may do", () => {
    const rbac = parseAllDocuments(exampleText("deploy/gateway/rbac.yaml")).map((document) => document.toJS() as Manifest);
    assert.deepEqual(one("Role").rules, rbac.find(({ kind }) => kind === "Role")!.rules);
  });

  it("runs the command, on the port that the pool and the probes name", () => {
    const container = one("Deployment").spec.template.spec.containers[0]!;
    const [word, ...args] = container.args;
    const command = commandsOf(builtIns).find(({ name }) => name === word)!;
    assert.equal(command.name, "epp");
    assert.deepEqual(readInput(args, command).all("file"), ["/etc/signalbox"]);
    const picker = one("InferencePool").spec.endpointPickerRef;
    assert.equal(picker.name, one("Service").metadata.name);
    assert.equal(picker.port.number, one("Service").spec.ports[0]?.port);
    for (const port of [container.ports[0]?.containerPort, container.readinessProbe.grpc.port])
      assert.equal(port, picker.port.number);
  });
});

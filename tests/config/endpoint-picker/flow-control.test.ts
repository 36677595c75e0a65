import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { admissionSection } from "../../../plugins/features/admission/admission-config.ts";
import { loaded, picker } from "./support.ts";

/** The section and the parameters of the line that an EndpointPickerConfig with these keys stands for. */
async function admissionOf(keys: string, more = "") {
  const { config } = await loaded(`${picker(keys)}${more}`);
  const line = config.plugins.find(({ type }) => type === "fair-queue");
  return { settings: admissionSection.of(config.features), line: line?.parameters };
}

describe("flow control of the reference's file", () => {
  it("is off without its feature gate", async () => {
    const { settings, line } = await admissionOf("flowControl: { maxRequests: 10 }\n");
    assert.equal(settings, undefined);
    assert.equal(line, undefined);
  });

  it("has the reference's defaults", async () => {
    const { settings, line } = await admissionOf("featureGates: [ flowControl ]\n");
    assert.ok(settings !== undefined);
    const { maxRequests, maxBytes, maxWaitMs, waitsForReplicas, concurrency, tokens } = settings;
    assert.deepEqual(
      { maxRequests, maxBytes, maxWaitMs, waitsForReplicas, concurrency, tokens },
      { maxRequests: 5_000, maxBytes: 2 ** 30, maxWaitMs: 60_000, waitsForReplicas: true, concurrency: 0, tokens: 0 },
    );
    assert.deepEqual(line, { fairness: "none", order: "arrival", agingMs: 10_000, ceiling: 1 });
  });

  it("takes bounds, policies and the detector's room", async () => {
    const { settings, line } = await admissionOf(`featureGates: [ "flowControl=true" ]
plugins:
- { type: priority-holdback-policy, name: kept, parameters: { domain: rank, minCeiling: 0.4, maxCeiling: 0.9, shape: linear } }
- { type: concurrency-detector, parameters: { maxConcurrency: 40, headroom: 0.5 } }
- { type: round-robin-fairness-policy, name: turns }
flowControl:
  maxBytes: 2Gi
  maxRequests: 1k
  defaultRequestTTL: 1m30s
  saturationDetector: { pluginRef: concurrency-detector }
  usageLimitPolicyPluginRef: kept
  defaultPriorityBand: { fairnessPolicyRef: turns, orderingPolicyRef: slo-deadline-ordering-policy }
  priorityBands: [ { priority: 100, maxRequests: 500, fairnessPolicyRef: turns } ]
`);
    assert.equal(settings?.maxBytes, 2 ** 31);
    assert.equal(settings?.maxRequests, 1_000);
    assert.equal(settings?.maxWaitMs, 90_000);
    assert.equal(settings?.concurrency, 60);
    assert.deepEqual(line, {
      fairness: "requests",
      order: "deadline",
      agingMs: 10_000,
      ceiling: { domain: "rank", shape: "linear", minCeiling: 0.4, maxCeiling: 0.9 },
    });
  });

  it("adds the bounds of its bands where it has none of its own", async () => {
    const { settings } = await admissionOf(`featureGates: [ flowControl ]
flowControl:
  defaultPriorityBand: { maxRequests: 100, maxBytes: 1Mi }
  priorityBands: [ { priority: 1, maxRequests: 20, maxBytes: 1Mi } ]
`);
    assert.equal(settings?.maxRequests, 120);
    assert.equal(settings?.maxBytes, 2 ** 21);
  });

  it("gives way to the section of a Router document", async () => {
    const more = "---\napiVersion: signalbox/v1\nkind: Router\nspec: { admission: { maxRequests: 7 } }\n";
    assert.equal((await admissionOf("featureGates: [ flowControl ]\n", more)).settings?.maxRequests, 7);
  });
});

test("InferenceObjective documents of both groups give priorities", async () => {
  const objective = (group: string, name: string, spec: string) =>
    `---\napiVersion: ${group}/v1alpha2\nkind: InferenceObjective\nmetadata: { name: ${name} }\nspec: { ${spec}poolRef: { name: default } }\n`;
  const { config } = await loaded(
    `apiVersion: signalbox/v1\nkind: Router\nspec: { admission: {} }\n${objective("llm-d.ai", "urgent", "priority: 10, ")}` +
      objective("inference.networking.x-k8s.io", "usual", ""),
  );
  assert.deepEqual(
    [...admissionSection.of(config.features)!.objectives],
    [
      ["urgent", 10],
      ["usual", 0],
    ],
  );
});

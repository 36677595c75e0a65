import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { readTraceFile } from "../../../../apps/cli/simulate/trace-file.ts";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import type { Fault } from "../../../../apps/lab/simulate/faults.ts";
import { Simulation } from "../../../../apps/lab/simulate/simulation.ts";
import { sliceOf } from "../../../../apps/lab/simulate/slice.ts";
import { sharedPath } from "../../../support/shared.ts";
import { loadSpec } from "./load-spec.ts";

// A change of the code that is meant to change no decision changes no checksum. One that is meant to says so by new ones here.

const PART = { fromMinute: 0, minutes: 60, mostRequests: 300 };

interface Policy {
  readonly name: string;
  readonly spec: string;
  readonly faults: readonly Fault[];
}

const FAULTS: readonly Fault[] = [
  { replica: 1, kind: "hang", fromS: 20, untilS: undefined },
  { replica: 2, kind: "restart", fromS: 40, untilS: undefined },
  { replica: 3, kind: "error", fromS: 10, untilS: 60 },
];

const POLICIES: readonly Policy[] = [
  { name: "the default", spec: "", faults: [] },
  {
    name: "weighted scorers on old metrics, with a line in front of the pool",
    spec: `  admission: { concurrency: 12 }
  plugins: [ { type: metrics, parameters: { periodMs: 500 } } ]
  profiles:
    - plugins:
        - { pluginRef: queue, weight: 2 }
        - { pluginRef: kv-cache-utilization, weight: 2 }
        - { pluginRef: prefix-cache, weight: 3 }
        - { pluginRef: max-score }
`,
    faults: [],
  },
  { name: "chance, at replicas that fail", spec: "  plugins: [ { type: random } ]\n", faults: FAULTS },
];

const TRACES: readonly { readonly file: string; readonly checksums: readonly string[] }[] = [
  { file: "mooncake_conversation_trace.jsonl.gz", checksums: ["70fa21f5f70dba8c", "e69627ab4368c2b3", "ba26ea5129157650"] },
  { file: "agentic_coding_trace.jsonl.gz", checksums: ["8987eaf4b126f630", "aad05fd17fcb63c3", "a1e6c8f5ad536345"] },
];

/** Where each request was tried and how each try ended, in the order in which requests ended, then the metrics. */
async function checksum(path: string, { spec, faults }: Policy): Promise<string> {
  const hash = createHash("sha256");
  const trace = sliceOf(await readTraceFile(path), PART);
  const simulation = new Simulation(trace, await loadSpec(spec), {
    replicas: 4,
    model: ENGINE_TIMES,
    speeds: [1, 1, 0.5, 1],
    timeScale: 0.5,
    seed: 1,
    tokenError: 0.1,
    faults,
    ended: ({ id, attempts }) => {
      hash.update(`${id} ${attempts.map(({ endpoint, result }) => `${endpoint} ${result}`).join(", ")}\n`);
    },
  });
  const metrics = simulation.run();
  // Engines of JavaScript differ in the last bits of what Math computes.
  hash.update(JSON.stringify(metrics, (_, value: unknown) => (typeof value === "number" ? value.toPrecision(9) : value)));
  return hash.digest("hex").slice(0, 16);
}

for (const { file, checksums } of TRACES) {
  describe(`decisions on ${file}`, () => {
    for (const [index, policy] of POLICIES.entries()) {
      it(`are what they were: ${policy.name}`, async (t) => {
        const path = sharedPath(`traces/${file}`);
        if (path === undefined) return t.skip(`${file} is not here`);
        assert.equal(await checksum(path, policy), checksums[index]);
      });
    }
  });
}

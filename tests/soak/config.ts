import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The name that half of the requests ask for; a rewrite turns it into `MODEL`. */
export const ASKED = "asked";
/** What the replicas serve. */
export const MODEL = "m";

const PLUGINS = ["faulty-filter", "faulty-scorer", "faulty-observer", "memory-page"];

/** Writes the router's config to a new folder and returns the file's path. JSON is YAML too. */
export function writeSoakConfig(urls: readonly string[]): string {
  const router = {
    apiVersion: "signalbox/v1",
    kind: "Router",
    spec: {
      pool: { name: "soak", endpoints: urls.map((url) => ({ url })) },
      plugins: [
        ...PLUGINS.map((name) => ({ from: join(import.meta.dirname ?? ".", `${name}.ts`), name })),
        // Full within the first half of the run, so that only what is forgotten too late grows in the second.
        { type: "decisions", parameters: { memoryBytes: 2 ** 18 } },
      ],
      profiles: [
        {
          plugins: ["ready", "serves-model", "faulty-filter", "faulty-scorer", "outstanding-work"].map((pluginRef) => ({
            pluginRef,
          })),
        },
      ],
    },
  };
  const rewrite = {
    apiVersion: "llm-d.ai/v1alpha2",
    kind: "InferenceModelRewrite",
    metadata: { name: ASKED },
    spec: {
      poolRef: { group: "inference.networking.k8s.io", name: "soak" },
      rules: [{ matches: [{ model: { type: "Exact", value: ASKED } }], targets: [{ modelRewrite: MODEL, weight: 1 }] }],
    },
  };
  const file = join(mkdtempSync(join(tmpdir(), "signalbox-soak-")), "soak.yaml");
  writeFileSync(file, `${JSON.stringify(router)}\n---\n${JSON.stringify(rewrite)}\n`);
  return file;
}

import { startMockReplica } from "../../lab/mock/replica.ts";
import type { GivenTexts } from "./config-source.ts";

const ADAPTERS = ["food-review-v1", "food-review-v2"];

/** What `signalbox start` runs without arguments and config: three mock replicas and a 90/10 rewrite to two adapters. */
export async function startDemo() {
  const replicas = await Promise.all([1, 2, 3].map(() => startMockReplica({ model: "demo", adapters: ADAPTERS })));
  const urls = replicas.map(({ url }) => url);
  return {
    urls,
    configText: demoConfig(urls),
    close: async () => void (await Promise.all(replicas.map((replica) => replica.close()))),
  };
}

/** Its config in place of files. */
export function demoTexts(text: string): GivenTexts {
  return { names: ["the demo"], texts: () => [{ file: "demo", text }] };
}

function demoConfig(urls: readonly string[]): string {
  const endpoints = urls.map((url, index) => `      - { name: mock-${index + 1}, url: "${url}" }`);
  return `apiVersion: signalbox/v1
kind: Router
spec:
  pool:
    name: demo
    endpoints:
${endpoints.join("\n")}
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { group: inference.networking.k8s.io, name: demo }
  rules:
    - matches: [ { model: { type: Exact, value: food-review } } ]
      targets: [ { modelRewrite: food-review-v1, weight: 90 }, { modelRewrite: food-review-v2, weight: 10 } ]
`;
}

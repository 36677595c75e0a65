import { after } from "node:test";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { startTestRouter, type TestRouter, type TestRouterOptions } from "./router.ts";
import { type Script, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

export interface MirrorPool {
  readonly router: TestRouter;
  /** Serves v1, what clients get. */
  readonly own: ScriptedReplica;
  /** Serves v2, where copies go. */
  readonly mirror: ScriptedReplica;
  /** What observers were told, in order. */
  readonly outcomes: readonly Outcome[];
}

/** Clients ask for "m" and get v1. */
export const RULE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules: [ { matches: [ { model: { type: Exact, value: m } } ], targets: [ { modelRewrite: v1, weight: 1 }, { modelRewrite: v2, weight: 0 } ] } ]`;

/** An observer that keeps what it is told. */
export function outcomeKeeper(outcomes: Outcome[]) {
  return defineObserver({
    type: "outcome-keeper",
    summary: "Keeps what it is told.",
    options: z.strictObject({}),
    create: () => ({ finished: (outcome) => void outcomes.push(outcome) }),
  });
}

/** A router whose rule for "m" is mirrored from one replica to the other; all of it ends with the test file. */
export async function startMirrorPool(
  own: Script,
  mirror: Script,
  { settings = "", ...options }: TestRouterOptions & { readonly settings?: string } = {},
): Promise<MirrorPool> {
  const replicas = await Promise.all([startScriptedReplica(own, ["v1"]), startScriptedReplica(mirror, ["v2"])]);
  const outcomes: Outcome[] = [];
  const spec = `${options.spec ?? ""}
  plugins: [ { type: outcome-keeper } ]
  mirrors: [ { rule: food, target: v2${settings} } ]`;
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { documents: RULE, ...options, spec, plugins: [outcomeKeeper(outcomes)] },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, own: replicas[0], mirror: replicas[1], outcomes };
}

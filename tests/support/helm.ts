import { spawnSync } from "node:child_process";

/** Helm's program: what SIGNALBOX_HELM names, or that on the PATH. Where it is absent, tests say so. */
const HELM = process.env["SIGNALBOX_HELM"] ?? "helm";
export const NO_HELM = spawnSync(HELM, ["version"]).status === 0 ? "" : "no helm is installed: the chart was NOT tested";
if (NO_HELM !== "") console.error(`SKIPPED: ${NO_HELM}`);

/** Runs it to its end. Throws what it says when it fails. */
export function helm(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(HELM, words, { encoding: "utf8", timeout: 60_000 });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

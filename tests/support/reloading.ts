import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { askFor } from "./admin.ts";
import type { WholeStatus } from "./features.ts";
import { type RouterProcess, startRouterProcess } from "./router-process.ts";

/** A router process, and the folder with its config, which the test changes. */
export interface ReloadingRouter {
  readonly process: RouterProcess;
  /** A path in the config's folder. */
  at(name: string): string;
  /** Writes a file of the folder the way editors do: beside it, then renamed over it. */
  write(name: string, text: string): void;
  status(): Promise<WholeStatus>;
  /** Resolves once the last attempt to change the config is one that `isWanted`. */
  untilReload(isWanted: (config: WholeStatus["config"]) => boolean): Promise<WholeStatus>;
  /** Resolves once so many configs ran. */
  untilGeneration(generation: number): Promise<WholeStatus>;
}

/**
 * Starts a router whose config is `signalbox.yaml` in a folder of its own, or the folder itself, which `prepare` may fill in its
 * own way. It ends with the test file.
 */
export async function startReloadingRouter(
  files: Readonly<Record<string, string>>,
  { isFolder = false, prepare }: { readonly isFolder?: boolean; readonly prepare?: (at: ReloadingRouter["at"]) => void } = {},
): Promise<ReloadingRouter> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-reload-"));
  const at = (name: string) => join(folder, name);
  const write = (name: string, text: string) => {
    writeFileSync(at(`.${name}.new`), text);
    renameSync(at(`.${name}.new`), at(name));
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  prepare?.(at);
  const router = await startRouterProcess([], { config: isFolder ? folder : at("signalbox.yaml"), hasAdmin: true });
  after(async () => {
    router.kill("SIGTERM");
    await router.exited;
    rmSync(folder, { recursive: true });
  });
  const status = async () => JSON.parse((await askFor(router.adminPort, "/status")).body) as WholeStatus;
  const untilReload = async (isWanted: (config: WholeStatus["config"]) => boolean) => {
    const startMs = performance.now();
    for (;;) {
      const now = await status();
      if (isWanted(now.config)) return now;
      if (performance.now() - startMs > 20_000) throw new Error(`The config is ${JSON.stringify(now.config)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    process: router,
    at,
    write,
    status,
    untilReload,
    untilGeneration: (wanted) => untilReload(({ generation }) => generation >= wanted),
  };
}

/** A config over these replicas, by name, with further lines below `spec:`, indented by two. */
export function configOver(urls: Readonly<Record<string, string>>, spec = ""): string {
  const endpoints = Object.entries(urls).map(([name, url]) => `{ name: ${name}, url: "${url}" }`);
  return `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ ${endpoints.join(", ")} ] }\n${spec}`;
}

/** A rewrite of "food" to these targets; without weights if they are undefined. */
export function rewriteTo(targets: Readonly<Record<string, number | undefined>>): string {
  const entries = Object.entries(targets).map(
    ([name, weight]) => `{ modelRewrite: ${name}${weight === undefined ? "" : `, weight: ${weight}`} }`,
  );
  return `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: default }, rules: [ { matches: [ { model: { value: food } } ], targets: [ ${entries.join(", ")} ] } ] }
`;
}

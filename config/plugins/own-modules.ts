import * as nodeModule from "node:module";
import * as contract from "../../core/plugin.ts";
import { initialize, resolve } from "./plugin-modules.mjs";

const NAME = "signalbox/plugin";
const SHARED = Symbol.for(NAME);

/** What these runtimes add to how modules are found: Bun has its own, Node 20 has only `register`. */
interface Hooks {
  readonly registerHooks?: (hooks: { readonly resolve: typeof resolve; readonly load: Load }) => void;
}
type Load = (url: string, context: object, next: (url: string, context: object) => object) => object;
interface BunRuntime {
  plugin(plugin: { readonly name: string; setup(build: BunBuild): void }): void;
}
interface BunBuild {
  module(name: string, make: () => { readonly exports: object; readonly loader: "object" }): void;
}

let isDone = false;

/**
 * Lets plugins import "signalbox/plugin" wherever their folder is, installed or not. They get the contracts of this program rather than
 * those of a copy beside them, so that an error or a secret that they make is one of ours.
 */
export function shareContract(): void {
  if (isDone) return;
  isDone = true;
  const { Bun: bun } = globalThis as { readonly Bun?: BunRuntime };
  if (bun !== undefined)
    return bun.plugin({ name: NAME, setup: (build) => build.module(NAME, () => ({ exports: contract, loader: "object" })) });
  (globalThis as { [SHARED]?: object })[SHARED] = contract;
  const { registerHooks } = nodeModule as Hooks;
  const url = `data:text/javascript,${encodeURIComponent(SOURCE)}`;
  if (registerHooks === undefined) return nodeModule.register("./plugin-modules.mjs", import.meta.url, { data: { [NAME]: url } });
  initialize({ [NAME]: url });
  registerHooks({ resolve, load: (wanted, context, next) => (wanted === url ? SHARED_MODULE : next(wanted, context)) });
}

/** Exports what the process shares: as a file of its own it would be another instance for each compiler and each version. */
const SOURCE = `export const { ${Object.keys(contract).join(", ")} } = globalThis[Symbol.for("${NAME}")];`;
/** Deno takes a module that hooks make up only from a hook that loads it. */
const SHARED_MODULE = { format: "module", source: SOURCE, shortCircuit: true };

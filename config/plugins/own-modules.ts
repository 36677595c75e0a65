import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import * as contract from "../../core/plugin.ts";
import { OWN_ROOT, ownFile } from "../../core/runtime/own-files.ts";
import { initialize, resolve } from "./plugin-modules.mjs";

const NAME = "signalbox/plugin";
const SHARED = Symbol.for(NAME);

/** What these runtimes add to how modules are found: Bun has its own, Node 20 has only `register`. */
interface Hooks {
  readonly registerHooks?: (hooks: { readonly resolve: typeof resolve; readonly load: Load }) => void;
}
type Load = (url: string, context: object, next: (url: string, context: object) => object) => object;
const { registerHooks } = nodeModule as Hooks;
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
  if (registerHooks === undefined) return useInThread(false);
  initialize({ modules: { [NAME]: URL_OF_SHARED }, hasCompiler: false });
  registerHooks({ resolve, load });
}

/** Deno, which has such hooks, takes JSON that a CommonJS package requires for JavaScript as soon as there is one. */
function load(url: string, context: object, next: (url: string, context: object) => object): object {
  if (url === URL_OF_SHARED) return SHARED_MODULE;
  if (!IS_DENO || !/^file:[^?#]*\.json$/.test(url)) return next(url, context);
  return { format: "json", source: readFileSync(new URL(url), "utf8"), shortCircuit: true };
}

const IS_DENO = "Deno" in globalThis;

let isCompilerExpected = false;

/** On Node 20, before tsx loads its first module: from now on a .ts file that is written as a module is one, so only tsx can load it. */
export function expectCompiler(): void {
  if (registerHooks !== undefined || isCompilerExpected) return;
  isCompilerExpected = true;
  useInThread(true);
}

export function expectsCompiler(): boolean {
  return isCompilerExpected;
}

function useInThread(hasCompiler: boolean): void {
  const data = { modules: { [NAME]: URL_OF_SHARED }, hasCompiler };
  if (OWN_ROOT !== "") return nodeModule.register("./plugin-modules.mjs", import.meta.url, { data });
  nodeModule.register(`data:text/javascript,${encodeURIComponent(ownFile("config/plugins/plugin-modules.mjs"))}`, { data });
}

/** Exports what the process shares: as a file of its own it would be another instance for each compiler and each version. */
const SOURCE = `export const { ${Object.keys(contract).join(", ")} } = globalThis[Symbol.for("${NAME}")];`;
const URL_OF_SHARED = `data:text/javascript,${encodeURIComponent(SOURCE)}`;
/** Deno takes a module that hooks make up only from a hook that loads it. */
const SHARED_MODULE = { format: "module", source: SOURCE, shortCircuit: true };

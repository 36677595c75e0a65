import { readFileSync } from "node:fs";

// Hooks for how Node and Deno resolve what plugins import. JavaScript, because Node 20 loads this file in a thread of its own.

/** @type {Readonly<Record<string, string>>} */
let own = {};
/** @type {string | undefined} */
let formatOfTypeScript;

/**
 * `modules`: imports that mean a module of the running program, from whatever folder, and the URLs of those modules. `hasCompiler`: tsx
 * compiles TypeScript for this Node, which has no format for it.
 *
 * @param {{ modules: Readonly<Record<string, string>>, hasCompiler: boolean }} data
 */
export function initialize({ modules, hasCompiler }) {
  own = modules;
  formatOfTypeScript = hasCompiler ? "commonjs" : undefined;
}

/**
 * @param {string} specifier
 * @param {object} context
 * @param {(specifier: string, context: object) => any} next
 */
export function resolve(specifier, context, next) {
  const url = Object.hasOwn(own, specifier) ? own[specifier] : undefined;
  if (url !== undefined) return { url, format: "module", shortCircuit: true };
  const found = next(specifier, context);
  // In Node 20 hooks wait, outside of the main thread.
  if (found instanceof Promise) return found.then((it) => asWritten(it, it.format ?? formatOfTypeScript));
  return asWritten(found, found.format);
}

/**
 * A file that is written as a module is one, whatever a package.json says or lacks: for Node 20 a .ts file outside of a package of
 * modules is CommonJS, and for all Nodes a .js file of a CommonJS package is.
 *
 * @param {{ url: string }} found
 * @param {string | undefined} format
 */
function asWritten(found, format) {
  const [, path] = /^(file:[^?#]*\.[jt]s)(?:[?#]|$)/.exec(found.url) ?? [];
  if (path === undefined || !format?.startsWith("commonjs") || path.includes("/node_modules/")) return found;
  return isModule(path) ? { ...found, format: format.replace("commonjs", "module") } : found;
}

function isModule(/** @type {string} */ url) {
  try {
    return /^\s*(?:import\b\s*["'{*\w]|export\b\s*[{*\w])/m.test(readFileSync(new URL(url), "utf8"));
  } catch {
    return false;
  }
}

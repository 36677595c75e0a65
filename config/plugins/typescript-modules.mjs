// A module hook for Node 20, whose TypeScript loader takes a .ts file outside of an ES module package for CommonJS, whatever is
// written in it. Such a plugin could not import Signalbox's contracts. Newer Nodes, Deno and Bun look at what is written.
export async function resolve(specifier, context, nextResolve) {
  const found = await nextResolve(specifier, context);
  const isOurs =
    found.format === "commonjs" && /^file:[^?#]*\.ts(?:[?#]|$)/.test(found.url) && !found.url.includes("/node_modules/");
  return isOurs ? { ...found, format: "module" } : found;
}

// Where the program begins. Newer Nodes, Deno and Bun read TypeScript themselves; Node 20 needs help.
const { bun, deno } = process.versions;
if (!bun && !deno && !process.features.typescript) (await import("tsx/esm/api")).register();
await import("./main.ts");

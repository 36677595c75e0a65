import { join } from "node:path";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");
const MAIN = join(ROOT, "apps", "cli", "main.ts");

/** How to run a file as a process of its own. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** How to run a TypeScript file as a process of its own on the runtime that runs the test. */
export function onThisRuntime(file: string): CommandLine {
  const { execPath: command, versions } = process;
  if (versions["deno"] !== undefined) return { command, args: ["run", "-A", "--no-check", "--quiet", "--no-lock", file] };
  if (versions["bun"] !== undefined) return { command, args: ["run", file] };
  return { command, args: readsTypeScript() ? [file] : ["--import", "tsx", file] };
}

/**
 * How to run the router's program so. A Node that does not read TypeScript runs the package that `npm test` has built, as users do:
 * it starts in a third of the time.
 */
export function programOnThisRuntime(): CommandLine {
  const { SIGNALBOX_BUILT: built } = process.env;
  if (built !== undefined && !readsTypeScript())
    return { command: process.execPath, args: [join(built, "apps", "cli", "bin.mjs")] };
  return onThisRuntime(MAIN);
}

/** The router's program on any of the three, whichever runs the test. */
export function programOn(runtime: "node" | "deno" | "bun"): CommandLine {
  const bin = join(ROOT, "node_modules", ".bin");
  if (runtime === "deno") return { command: join(bin, "deno"), args: ["run", "-A", "--no-check", "--quiet", "--no-lock", MAIN] };
  if (runtime === "bun") return { command: join(bin, "bun"), args: ["run", MAIN] };
  return { command: "node", args: ["--import", "tsx", MAIN] };
}

function readsTypeScript(): boolean {
  const { features, versions } = process;
  return versions["deno"] !== undefined || versions["bun"] !== undefined || ("typescript" in features && !!features.typescript);
}

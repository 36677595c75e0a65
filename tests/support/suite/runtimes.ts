import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";

export const ROOT = join(import.meta.dirname ?? ".", "..", "..", "..");
const BIN = join(ROOT, "node_modules", ".bin");
/** What each runtime runs: it loads the test files. A process for each of them would take longer to start than most run. */
const FILES = join(ROOT, "tests", "support", "suite", "files.ts");

/** How a runtime runs files.ts with its test runner. */
export interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export const KINDS: readonly string[] = ["node", "deno", "bun"];

/** The Node that runs this, those of SIGNALBOX_NODES, Deno and Bun. */
export function runtimes(): Runtime[] {
  const nodes = [process.execPath, ...(process.env["SIGNALBOX_NODES"] ?? "").split(delimiter).filter(Boolean)];
  return [
    ...nodes.map((command, index) => nodeRuntime(index === 0 ? "node" : `node:${command}`, command)),
    { name: "deno", command: join(BIN, "deno"), args: ["test", "-A", "--no-check", "--quiet", "--no-lock", FILES] },
    { name: "bun", command: join(BIN, "bun"), args: ["test", "--timeout", "30000", FILES] },
  ];
}

function nodeRuntime(name: string, command: string): Runtime {
  const loader = readsTypeScript(command) ? [] : ["--import", "tsx"];
  return { name, command, args: [...loader, "--test-reporter", "spec", FILES] };
}

/** Whether this Node needs no help with TypeScript, as for people who start the program on it. */
function readsTypeScript(command: string): boolean {
  return execFileSync(command, ["-p", "Boolean(process.features.typescript)"], { encoding: "utf8" }).trim() === "true";
}

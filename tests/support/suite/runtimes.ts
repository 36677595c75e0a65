import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(import.meta.dirname ?? ".", "..", "..", "..");
const BIN = join(ROOT, "node_modules", ".bin");
const NODE_FILES = fileURLToPath(import.meta.resolve("./node-files.ts"));
const FILE_TIMES = import.meta.resolve("./file-times.ts");

/** How a runtime runs test files in one process. */
export interface Runtime {
  readonly name: string;
  readonly command: string;
  /** The arguments that come before the files; the runner writes what each file took to `reportFile`. */
  readonly arguments: (reportFile: string) => readonly string[];
}

export const KINDS: readonly string[] = ["node", "deno", "bun"];

/** The Node that runs this, those of SIGNALBOX_NODES, Deno and Bun. */
export function runtimes(): Runtime[] {
  const nodes = [process.execPath, ...(process.env["SIGNALBOX_NODES"] ?? "").split(delimiter).filter(Boolean)];
  return [
    ...nodes.map((command, index) => nodeRuntime(index === 0 ? "node" : `node:${command}`, command)),
    {
      name: "deno",
      command: join(BIN, "deno"),
      arguments: (report) => ["test", "-A", "--no-check", "--quiet", "--no-lock", `--junit-path=${report}`],
    },
    {
      name: "bun",
      command: join(BIN, "bun"),
      arguments: (report) => ["test", "--timeout", "30000", "--isolate", "--reporter=junit", `--reporter-outfile=${report}`],
    },
  ];
}

/** Without --test, which would begin a process for each file: that took longer than most files do. */
function nodeRuntime(name: string, command: string): Runtime {
  const loader = readsTypeScript(command) ? [] : ["--import", "tsx"];
  const reports = (reportFile: string) => [
    ...["--test-reporter", "spec", "--test-reporter-destination", "stdout"],
    ...["--test-reporter", FILE_TIMES, "--test-reporter-destination", reportFile],
  ];
  return { name, command, arguments: (report) => [...loader, ...reports(report), NODE_FILES] };
}

/** Whether this Node needs no help with TypeScript, as for people who start the program on it. */
function readsTypeScript(command: string): boolean {
  return execFileSync(command, ["-p", "Boolean(process.features.typescript)"], { encoding: "utf8" }).trim() === "true";
}

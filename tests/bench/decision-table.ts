/** Runs `tests/bench/decision.ts` on every runtime, one after the other, and prints one table: `npm run bench:decision`. */
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { table } from "../../core/report/table.ts";

const BIN = join(import.meta.dirname, "..", "..", "node_modules", ".bin");
const FILE = join(import.meta.dirname, "decision.ts");
const LIMIT_MS = 300_000;

/** SIGNALBOX_NODES names other Node binaries beside the one that runs this. */
const nodes = [process.execPath, ...(process.env["SIGNALBOX_NODES"] ?? "").split(delimiter).filter(Boolean)];
const runtimes = [
  ...nodes.map((command) => [command, "--import", "tsx", FILE]),
  [join(BIN, "deno"), "run", "-A", "--no-check", "--no-lock", FILE],
  [join(BIN, "bun"), FILE],
];

function versionOf(command: string): string {
  const { stdout } = spawnSync(command, ["--version"], { encoding: "utf8", timeout: LIMIT_MS });
  const [first = ""] = stdout.split("\n");
  return first.startsWith("v")
    ? `Node ${first.slice(1)}`
    : first.startsWith("deno")
      ? `Deno ${first.split(" ")[1]}`
      : `Bun ${first}`;
}

const columns = runtimes.map(([command = "", ...args]) => {
  const { stdout, status } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: LIMIT_MS,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${command} did not finish the bench; its output is above.`);
  return { title: versionOf(command), cells: JSON.parse(stdout) as Readonly<Record<string, string>> };
});
const rows = Object.keys(columns[0]!.cells).map((name) => [name, ...columns.map(({ cells }) => cells[name] ?? "")]);
const alignments = ["left", ...columns.map(() => "right" as const)] as const;
console.log(table(alignments, [["", ...columns.map(({ title }) => title)], ...rows]).join("\n"));

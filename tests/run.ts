/**
 * Runs the whole test suite on every runtime that `npm ci` brought, or on those named: `npm test -- deno bun`.
 * SIGNALBOX_NODES may name more Node binaries, separated by ":". `npm test -- node tests/core/body` narrows the files.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** For all files on one runtime; they take a tenth of it. */
const LIMIT_MS = 15 * 60_000;
/** After it, for the report of what failed before one file did not end. */
const REPORT_MS = 10_000;

interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const root = join(import.meta.dirname ?? ".", "..");
const BIN = join(root, "node_modules", ".bin");

function runtimes(): Runtime[] {
  const nodes = [process.execPath, ...(process.env["SIGNALBOX_NODES"] ?? "").split(delimiter).filter(Boolean)];
  return [
    ...nodes.map((command, index) => ({
      name: index === 0 ? "node" : `node:${command}`,
      command,
      args: ["--import", "tsx", "--test", "--test-reporter", "spec", "--test-concurrency", "2"],
    })),
    { name: "deno", command: join(BIN, "deno"), args: ["test", "-A", "--no-check", "--quiet", "--no-lock"] },
    { name: "bun", command: join(BIN, "bun"), args: ["test", "--timeout", "30000", "--isolate"] },
  ];
}

function testFiles(place: string): string[] {
  if (statSync(place).isFile()) return [place];
  return readdirSync(place, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(place, name))
    .sort();
}

/** Runs one runtime over the files; true when it passed and ran at least one test. */
function run(runtime: Runtime, files: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(runtime.command, [...runtime.args, ...files], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
    }
    child.on("error", (error) => {
      output += `${error.message}\n`;
    });
    const limit = setTimeout(() => {
      output += `\nEnded after ${LIMIT_MS / 60_000} minutes.\n`;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), REPORT_MS).unref();
    }, LIMIT_MS);
    child.on("close", (code) => {
      clearTimeout(limit);
      const passed = passedTests(output);
      const isGood = code === 0 && passed > 0;
      if (!isGood) console.log(output);
      else for (const line of new Set(output.match(/^SKIPPED: .*$/gm))) console.log(`${runtime.name}: ${line}`);
      console.log(`${runtime.name}: ${passed} passed, ${isGood ? 0 : Math.max(1, failedTests(output))} failed`);
      resolve(isGood);
    });
  });
}

const passedTests = (output: string) =>
  countOf(output, [/^ℹ pass (\d+)$/m, /\| (\d+) passed/, /^ok \| (\d+)/m, /^\s*(\d+) pass$/m]);
const failedTests = (output: string) => countOf(output, [/^ℹ fail (\d+)$/m, /\| (\d+) failed/, /^\s*(\d+) fail$/m]);

function countOf(output: string, patterns: readonly RegExp[]): number {
  const plain = output.replace(/\u001b\[[0-9;]*m/g, "");
  for (const pattern of patterns) {
    const found = pattern.exec(plain);
    if (found) return Number(found[1]);
  }
  return 0;
}

const KINDS = ["node", "deno", "bun"];
const words = process.argv.slice(2);
const places = words.filter((word) => existsSync(join(root, word)));
const kinds = words.filter((word) => KINDS.includes(word));
const unknown = words.filter((word) => !places.includes(word) && !kinds.includes(word));
if (unknown.length > 0) {
  console.error(`"${unknown[0]}" is neither a runtime (${KINDS.join(", ")}) nor a file or folder of this project.`);
  process.exit(2);
}
const files = (places.length > 0 ? places : ["tests"]).flatMap((place) => testFiles(join(root, place)));
if (files.length === 0) {
  console.error(`There are no tests in ${places.join(", ")}.`);
  process.exit(1);
}
const asked = runtimes().filter(({ name }) => kinds.length === 0 || kinds.includes(name.split(":")[0] ?? ""));
const isNode = ({ name }: Runtime) => name.startsWith("node");
// Node runs two files at a time by itself; Deno and Bun one, so both together take as much of a machine.
const rounds = [...asked.filter(isNode).map((runtime) => [runtime]), asked.filter((runtime) => !isNode(runtime))];
let isAllGood = true;
for (const round of rounds) {
  const results = await Promise.all(round.map((runtime) => run(runtime, files)));
  isAllGood = results.every(Boolean) && isAllGood;
}
process.exitCode = isAllGood ? 0 : 1;

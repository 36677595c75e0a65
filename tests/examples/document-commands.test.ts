import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { commandsOf } from "../../apps/cli/commands.ts";
import { readInput } from "../../apps/cli/frame/command.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { builtIns } from "../../plugins/registry.ts";
import { run } from "../support/cli.ts";
import {
  blocksOf,
  type CommandLine,
  commandLine,
  DOCUMENTS,
  exampleCommands,
  inlineCommands,
  routerArguments,
} from "../support/document-blocks.ts";
import { documentFiles, REQUEST_BODY } from "../support/document-files.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";

// Every command line of the documents is read by the real commands; what ends by itself runs, in their order, against one router.

/** Commands of the router that are only read, and why. */
const ONLY_READ: Readonly<Record<string, string>> = {
  start: "goes on until it is stopped; the router that the others ask is one",
  epp: "goes on until it is stopped; tests/epp/",
  dev: "goes on until it is stopped; tests/e2e/dev.runtimes.test.ts",
  mock: "goes on until it is stopped; the replicas here are two",
  tail: "goes on until it is stopped; tests/e2e/tail.runtimes.test.ts",
  new: "makes a folder where it runs; tests/package/",
  replay: "takes as long as was recorded; tests/e2e/replay.runtimes.test.ts",
};

/** Scripts of the checkout: what is said of them is checked. */
const SCRIPT_RUNNERS: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  npm: ([command = "", ...words]) => command !== "run" || (words.find((word) => word !== "-s") ?? "") in SCRIPTS,
  npx: ([program = "", ...words]) => program === "signalbox" || (SCRIPT_RUNNERS[program]?.(words) ?? false),
  deno: ([command = "", task = ""]) => command !== "task" || task in TASKS,
  bun: ([command = "", script = ""]) => command !== "run" || script in SCRIPTS,
};

/** Other programs, and why they do not run here. The files of ours that they name must be there. */
const NOT_RUN: Readonly<Record<string, string>> = {
  envoy: "needs Envoy; tests/epp/ runs it with this file",
  kubectl: "needs a cluster; tests/kubernetes/ applies these files",
  helm: "needs Helm; tests/kubernetes/deploy.test.ts runs it",
  prometheus: "needs Prometheus; tests/examples/observability.test.ts runs it",
  docker: "needs Docker, which no test has",
  vllm: "needs a GPU or an hour; tests/vllm/",
  alias: "a shell's own; tests/apps/cli/commands/completion.runtimes.test.ts has what follows it",
  cp: "copies one example over another",
  curl: "in an example's comment: the router of that example does not run",
};

const SCRIPTS = (JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object }).scripts;
const TASKS = (JSON.parse(readFileSync("deno.json", "utf8")) as { tasks: object }).tasks;

const folder = mkdtempSync(join(tmpdir(), "signalbox-commands-"));
const replicas: MockReplica[] = [];
let prefillMock: MockReplica;
let router: RouterProcess;
let requestId = "";

before(async () => {
  const adapters = ["food-review-v1", "food-review-v2"];
  const options = { model: "llama", adapters, availableAdapters: adapters, timeScale: 0 };
  replicas.push(...(await Promise.all([startMockReplica(options), startMockReplica(options)])));
  prefillMock = await startMockReplica({ model: "llama", role: "prefill", timeScale: 0 });
  const files = documentFiles(replicas);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const running = join(folder, "running");
  mkdirSync(running);
  for (const name of ["signalbox.yaml", "rewrite.yaml"]) writeFileSync(join(running, name), files[name] ?? "");
  router = await startRouterProcess([], { config: running, hasAdmin: true });
  const url = `http://127.0.0.1:${router.port}/v1/chat/completions`;
  const response = await fetch(url, { method: "POST", body: REQUEST_BODY, headers: { "content-type": "application/json" } });
  assert.equal(response.status, 200, await response.text());
  requestId = response.headers.get("x-request-id") ?? "";
});

after(async () => {
  router?.kill("SIGTERM");
  await router?.exited;
  await Promise.all([...replicas, prefillMock].map((replica) => replica?.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe("the commands of", () => {
  for (const document of DOCUMENTS) {
    const lines = blocksOf(document).flatMap(({ kind, text }) => (kind === "commands" ? commandLinesOf(text) : []));
    const inline = inlineCommands(document);
    if (lines.length + inline.length === 0) continue;
    it(`${document} are well-formed, and run`, async () => {
      for (const line of inline) look(line);
      await reset();
      for (const line of lines) await tryOut(line);
    });
  }
});

it("the commands in the comments of the examples are well-formed", () => {
  const lines = exampleCommands();
  assert.ok(lines.length > 30);
  for (const line of lines) look(line);
});

/** Puts back what the commands of another document have changed in the router. */
async function reset(): Promise<void> {
  const admin = ["--admin", `http://127.0.0.1:${router.adminPort}`];
  await run("adapters", "load", "food-review-v1", ...admin);
  await run("adapters", "unload", "food-review-v2", ...admin);
  await run("revert", "rewrite", "food-review", ...admin);
  // So that there is something to revert.
  await run("weights", "food-review", "food-review-v1=100", "food-review-v2=0", ...admin);
}

/** Lines that begin a command: what follows it there may be its output. */
function commandLinesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines[0]?.startsWith("$ ") ? lines.filter((line) => line.startsWith("$ ")) : lines;
}

/** A command that prose names is one; it does not run. */
function look(line: string): void {
  const parsed = commandLine(line);
  if (routerArguments(parsed) === undefined) checkProgram(line, parsed);
  else read(line);
}

/** Reads the switches of one of the router's command lines, as the program does. */
function read(line: string) {
  const parsed = commandLine(line);
  const [name, ...rest] = routerArguments(parsed) ?? assert.fail(`${line}: no command of the router`);
  const command = commandsOf(builtIns).find((each) => each.name === name) ?? assert.fail(`${line}: no such command`);
  if (!command.isOnItsOwn && !rest.includes("--help")) {
    const { words } = readInput(rest, command);
    if (command.choices !== undefined && words[0] !== undefined)
      assert.ok(command.choices.includes(words[0]), `${line}: its first word is none of ${command.choices}`);
  }
  return { ...parsed, name: command.name, rest, command };
}

async function tryOut(line: string): Promise<void> {
  const parsed = commandLine(line);
  // HOST is the reader's; tests/e2e/hardened.runtimes.test.ts asks one.
  if (line.includes("https://HOST:")) return;
  if (parsed.words[0] === "curl") return await askAs(line, parsed);
  const [only] = routerArguments(parsed) ?? [];
  if (only === undefined) return checkProgram(line, parsed);
  if (only === "--help") return assert.equal((await run(only)).code, 0);
  const { name, rest, input, output, command } = read(line);
  // One goes on for ever, the other reads the standard input, which is the test runner's.
  const isOnlyRead = rest.includes("--watch") || rest.includes("-") || input !== undefined;
  if (rest.includes("--help") || (ONLY_READ[name] === undefined && !isOnlyRead)) {
    const asks = command.switches.some((each) => each.name === "admin") && !rest.includes("-f");
    const isAsking = asks || (name === "explain" && !rest.includes("--snapshot")) || name === "apply";
    const admin = isAsking && !rest.includes("--help") ? ["--admin", `http://127.0.0.1:${router.adminPort}`] : [];
    const ended = await run(name, ...rest.map((word, index) => (rest[index - 1] === "-o" ? made(word) : placed(word))), ...admin);
    // A pool in which somebody has drained a replica is degraded.
    const isFine = ended.code === 0 || (name === "status" && ended.code === 3);
    // The end of the router's log says why it refused requests.
    assert.ok(isFine, `${line}: ${ended.code} ${ended.out}${ended.err}${router.printed.slice(-2_000)}`);
    if (output !== undefined) writeFileSync(placed(output), ended.out);
  }
}

/** What curl would ask: the router at its own ports, and the mock of docs/reference.md that computes prompts. */
async function askAs(line: string, { words }: CommandLine): Promise<void> {
  const after = (word: string) => words[words.indexOf(word, 1) + 1] ?? "";
  const url = words.find((word) => word.startsWith("http://")) ?? assert.fail(`${line}: no address that begins with http://`);
  const body = words.includes("-d") ? after("-d") : undefined;
  const [name = "", value = ""] = words.includes("-H") ? after("-H").split(": ") : ["accept", "*/*"];
  const place = url
    .replace("127.0.0.1:8080", `127.0.0.1:${router.port}`)
    .replace("127.0.0.1:9090", `127.0.0.1:${router.adminPort}`)
    .replace("http://127.0.0.1:8101", prefillMock.url);
  const response = await fetch(place, {
    method: body === undefined ? "GET" : "POST",
    headers: { [name]: value },
    ...(body && { body }),
  });
  assert.equal(response.status, 200, `${line}: ${await response.text()}`);
}

/** Other programs' command lines: known ones, and the files that they name are there. */
function checkProgram(line: string, { words }: CommandLine): void {
  const [program = "", ...rest] = words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word)));
  assert.ok(SCRIPT_RUNNERS[program]?.(rest) ?? NOT_RUN[program] !== undefined, `${line}: not known here`);
  for (const [file] of line.matchAll(/(?<![\w/])(?:examples|tests|core|docs|plugins|config)\/[\w./-]*\w/g))
    assert.ok(existsSync(file), `${line}: there is no ${file}`);
}

/** A word of a command line, with files of the documents in the test's folder. */
function placed(word: string): string {
  if (word === "REQUEST_ID") return requestId;
  return /^[\w-]+\.(yaml|jsonl?(\.gz)?|log|svg|sh)$/.test(word) || word === "TRACE" || word === "FILE"
    ? join(folder, word)
    : word;
}

/** A file that a command makes, which must not be there. */
function made(word: string): string {
  return join(folder, `made-${word}`);
}

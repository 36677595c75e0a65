// `npm run binary -- node|bun|deno [FILE]`: the program and its runtime as one file, by default build/signalbox-RUNTIME.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inject } from "postject";

const ROOT = resolve(import.meta.dirname ?? ".", "..", "..", "..");
const MODULES = join(ROOT, "node_modules");
const BUN = join(MODULES, "bun", "bin", "bun.exe");
const DENO = join(MODULES, "deno", "deno");
/** What is read while the program runs: core/runtime/own-files.ts finds it in the process. */
const FILES = ["package.json", "apps/admin/page", "examples/plugins", "config/plugins/plugin-modules.mjs"];
/** Where they are installed, plugins' folders or the program's, they are found there. */
const OPTIONAL = ["tsx/esm/api", "@opentelemetry/exporter-trace-otlp-http", "ioredis", "@nats-io/transport-node"];

const [runtime = "", given] = process.argv.slice(2);
if (!["node", "bun", "deno"].includes(runtime)) {
  console.error("Name the runtime: npm run binary -- node, bun or deno.");
  process.exit(2);
}
const out = resolve(given ?? join(ROOT, "build", `signalbox-${runtime}`));
const place = mkdtempSync(join(tmpdir(), "signalbox-binary-"));
function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { cwd: place, stdio: ["ignore", "ignore", "inherit"] });
}

/** All of the program in one module. */
function bundle(format: "cjs" | "esm", target: "node" | "bun"): string {
  const module = join(place, `signalbox.${format === "cjs" ? "cjs" : "mjs"}`);
  const files = Object.fromEntries(FILES.flatMap(filesIn).map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
  writeFileSync(join(place, "files.mjs"), `globalThis[Symbol.for("signalbox/files")] = ${JSON.stringify(files)};\n`);
  const parts = [join(place, "files.mjs"), ...["early-signals.mjs", "main.ts"].map((name) => join(ROOT, "apps", "cli", name))];
  writeFileSync(join(place, "entry.mjs"), parts.map((path) => `import ${JSON.stringify(path)};\n`).join(""));
  const externals = OPTIONAL.flatMap((name) => ["--external", name]);
  run(BUN, "build", "entry.mjs", `--target=${target}`, `--format=${format}`, ...externals, "--outfile", module);
  return module;
}

function filesIn(path: string): readonly string[] {
  if (statSync(join(ROOT, path)).isFile()) return [path];
  return readdirSync(join(ROOT, path)).flatMap((name) => filesIn(`${path}/${name}`));
}

function makeForBun(): void {
  run(BUN, "build", "--compile", bundle("esm", "bun"), ...OPTIONAL.flatMap((name) => ["--external", name]), "--outfile", out);
}

function makeForDeno(): void {
  run(
    DENO,
    "compile",
    "-A",
    "--no-check",
    "--no-config",
    "--v8-flags=--no-memory-reducer",
    "--output",
    out,
    bundle("esm", "node"),
  );
}

/** Node's own imports know no files inside a single executable, so the program is run as a script that imports as others do. */
const FIRST = `const warn = process.emitWarning;
process.emitWarning = (...said) => String(said[0]).startsWith("vm.USE_MAIN") || warn.apply(process, said);
const { constants, Script } = require("node:vm");
const text = require("node:sea").getAsset("signalbox.cjs", "utf8");
const options = { filename: process.execPath + ".cjs", importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
const module_ = { exports: {} };
new Script("(function (exports, require, module, __filename, __dirname) {" + text + "\\n})", options)
  .runInThisContext()(module_.exports, require, module_, process.execPath, "");
`;
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

async function makeForNode(): Promise<void> {
  const script = bundle("cjs", "node");
  writeFileSync(join(place, "first.cjs"), FIRST);
  const settings = { main: "first.cjs", output: "signalbox.blob", disableExperimentalSEAWarning: true };
  writeFileSync(join(place, "sea.json"), JSON.stringify({ ...settings, assets: { "signalbox.cjs": script } }));
  run(process.execPath, "--experimental-sea-config", "sea.json");
  cpSync(process.execPath, out, { dereference: true });
  chmodSync(out, 0o755);
  await inject(out, "NODE_SEA_BLOB", readFileSync(join(place, "signalbox.blob")), { sentinelFuse: FUSE });
}

try {
  await { node: makeForNode, bun: makeForBun, deno: makeForDeno }[runtime as "node" | "bun" | "deno"]();
} finally {
  rmSync(place, { recursive: true, force: true });
}
console.log(`${out} is the program for ${runtime}, ${Math.round(statSync(out).size / 1e6)} MB.`);

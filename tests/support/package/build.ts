// `npm run build`: writes what npm gets into a folder, by default build/package.
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { declarationsOf } from "./declarations.ts";
import { manifestOf } from "./manifest.ts";
import { partsOf } from "./sbom.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..", "..", "..");
/** What no compiler makes: the page as browsers load it, the editors' schema, what `signalbox new` copies, the documents, what npm shows. */
const DOCUMENTS = [
  "docs",
  "config/ACCESS-LOG.md",
  "config/LIMITS.md",
  "plugins/observers/METRICS.md",
  "README.md",
  "CHANGELOG.md",
];
/** What systemd runs the package by. */
const SERVICE = ["signalbox.service", "package.conf", "take-config.sh"].map((name) => `examples/deploy/${name}`);
const COPIED = ["apps/admin/page", "config/signalbox.schema.json", "examples/plugins", ...DOCUMENTS, ...SERVICE, "LICENSE"];

const folder = resolve(process.argv[2] ?? join(ROOT, "build", "package"));
rmSync(folder, { recursive: true, force: true });
execFileSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json", "--outDir", folder], {
  cwd: ROOT,
  stdio: "inherit",
});
// Documents go without their pictures, which are larger than all of the text.
const isText = (path: string) => !path.endsWith(".png");
for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isText });

const source = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const manifest = manifestOf(source, process.env["GITHUB_REPOSITORY"]);
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(partsOf(ROOT, source), null, 2)}\n`);

const entries = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : filesOf(entry.types)));
const named = declarationsOf(folder, entries);
for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  const path = join(folder, name);
  if (!/\.d\.m?ts$/.test(name) || !statSync(path).isFile()) continue;
  const text = named.get(path);
  if (text === undefined) rmSync(path);
  else writeFileSync(path, text);
}
console.log(`${manifest.name} ${manifest.version} is in ${folder}; npm pack ${folder} makes the file that npm gets.`);

/** The files that an entry of the exports names: those of the modules that `createCore` can run where it has a "*". */
function filesOf(entry: string): readonly string[] {
  const [start = "", end] = entry.split("*");
  if (end === undefined) return [entry];
  const below = readdirSync(join(folder, start), { recursive: true, encoding: "utf8" });
  return below.filter((name) => name.endsWith(end) && isForCore(join(folder, start, name))).map((name) => `${start}${name}`);
}

/** Not what belongs to a feature with a section of the config: `createCore` refuses it. */
function isForCore(path: string): boolean {
  if (!path.includes("/features/")) return true;
  return path.endsWith("/feature.d.ts") && !readFileSync(path, "utf8").includes("/config/");
}

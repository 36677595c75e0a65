// `npm run build`: writes what npm gets into a folder, by default build/package.
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { declarationsOf } from "./declarations.ts";
import { manifestOf } from "./manifest.ts";
import { partsOf } from "./sbom.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..", "..", "..");
/** What no compiler makes: the page as browsers load it, the editors' schema, what `signalbox new` copies, and what npm shows. */
const COPIED = ["core/admin/page", "config/signalbox.schema.json", "examples/plugins", "README.md", "LICENSE", "CHANGELOG.md"];

const folder = resolve(process.argv[2] ?? join(ROOT, "build", "package"));
rmSync(folder, { recursive: true, force: true });
execFileSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json", "--outDir", folder], {
  cwd: ROOT,
  stdio: "inherit",
});
for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });

const source = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const manifest = manifestOf(source, process.env["GITHUB_REPOSITORY"]);
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(partsOf(ROOT, source), null, 2)}\n`);

const entries = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : [entry.types]));
const named = declarationsOf(folder, entries);
for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  const path = join(folder, name);
  if (!/\.d\.m?ts$/.test(name) || !statSync(path).isFile()) continue;
  const text = named.get(path);
  if (text === undefined) rmSync(path);
  else writeFileSync(path, text);
}
console.log(`${manifest.name} ${manifest.version} is in ${folder}; npm pack ${folder} makes the file that npm gets.`);

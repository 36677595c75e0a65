import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as contract from "../../core/plugin.ts";
import { stackPlace } from "../../core/report/stack-place.ts";
import { OWN_ROOT } from "../../core/runtime/own-files.ts";
import { readBoundedNow } from "../../core/runtime/read-file.ts";
import { didYouMean } from "../read/problems.ts";

/** A place as "file:line" or "file:line:column"; file may be a URL. */
const PLACE = /(?<![\w:./])(?:file:\/\/)?(\/[^\n:()?]*|[A-Za-z]:[\\/][^\n:()?]*)(?:\?[^:\s)]*)?:(\d+)(?::(\d+))?/g;
/** Of a file whose lines are looked through. */
const MOST_BYTES = 1024 * 1024;
const COLORS = /\u001b\[[\d;]*m/g;

/** One sentence that says why a module could not be loaded, and where. `file` is the module's absolute path. */
export function loadFailure(error: unknown, file: string): string {
  const place = placeOf(error, file);
  return `It fails while loading, at ${place === "" ? file : place}: ${reasonOf(error)}.${remedyFor(error, file)}`;
}

/** How the runtimes name what can't be imported, or lacks what is wanted of it. */
const MISSING = [
  /Cannot find (?:module|package) '([^']+)'/,
  /Loading unprepared module: \S*\/([^/,]+), imported/,
  /requested module '(signalbox)'/,
];

/** What to write instead, where an import fails that beginners get wrong. */
function remedyFor(error: unknown, file: string): string {
  const text = messageOf(error);
  const [, missing = ""] = MISSING.map((pattern) => pattern.exec(text)).find((found) => found !== null) ?? [];
  const [, lacking = ""] = /export named '([^']+)'/i.exec(text) ?? [];
  const hint = lacking === "" ? "" : didYouMean(lacking, Object.keys(contract));
  if (isCommonJs(reasonOf(error), file)) return ES_MODULE;
  if (missing === "signalbox") return ` Plugins import "signalbox/plugin".`;
  if (missing === "zod") return ` Write import { z } from "signalbox/plugin", or install zod beside the plugin.`;
  if (hint !== "") return ` ${hint}`;
  return /^[@a-z]/.test(missing) ? ` Install ${missing} beside the plugin.` : "";
}

const OF_COMMONJS = /\b(?:require|module|exports) is not defined|^Cannot find module 'signalbox|^NotFound\b/;
const REQUIRES = /\brequire\(["']signalbox|\bmodule\.exports\b/;
const ES_MODULE =
  ' Write it as an ES module: import { … } from "signalbox/plugin" in place of require, export default in place of module.exports.';

/** Whether a CommonJS module finds this program depends on the runtime; an ES module does on each. */
function isCommonJs(reason: string, file: string): boolean {
  return OF_COMMONJS.test(reason) && linesOf(file).some((line) => REQUIRES.test(line));
}

/** The first line of an error's message that says what is wrong. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${hasPlainName(error) ? "" : `${error.name}: `}${error.message}` : messageOf(error);
  const lines = text.replace(COLORS, "").split("\n");
  // The compiler behind Node 20 says on a further line what is wrong.
  const detail = lines.map((line) => /: ERROR: (.*)/.exec(line)?.[1]).find((found) => found !== undefined);
  return (detail === undefined ? (lines[0] ?? "") : `SyntaxError: ${detail}`).replace(/\.$/, "");
}

function hasPlainName({ name, message }: Error): boolean {
  return ["Error", "ResolveMessage", "BuildMessage"].includes(name) || message.startsWith("SyntaxError: ");
}

function messageOf(error: unknown): string {
  const isMessage = typeof error === "object" && error !== null && "message" in error;
  return isMessage ? String(error.message) : String(error);
}

function placeOf(error: unknown, file: string): string {
  const text = `${messageOf(error)}\n${error instanceof Error ? error.stack : ""}`.replace(COLORS, "");
  return (
    builderPlace(error) ||
    stackPlace(error, file) ||
    importPlace(text, file) ||
    namedPlace(text, file) ||
    checkedPlace(error, file)
  );
}

/** Bun's compiler gives the place as data. */
function builderPlace(error: unknown): string {
  const { position } = (error ?? {}) as { position?: { file?: string; line?: number; column?: number } | null };
  return position?.file ? `${position.file}:${position.line}:${position.column}` : "";
}

/** Where a module that is missing, or lacks an export, is imported: the runtimes name the importing file at most. */
function importPlace(text: string, file: string): string {
  const [, missing = "", importer = file] =
    /Cannot find (?:module|package) '([^']+)'(?: imported from ([^\n]+))?/.exec(text) ?? [];
  const [, lacking = ""] = /Export named '([^']+)' not found/.exec(text) ?? [];
  const word = lacking || (missing.split(/[\\/]/).at(-1) ?? "");
  if (word === "") return "";
  const path = importer.startsWith("file:") ? fileURLToPath(importer) : importer;
  const line = linesOf(path).findIndex((each) => /\b(?:import|export|from)\b/.test(each) && each.includes(word));
  return line === -1 ? path : `${path}:${line + 1}`;
}

/** The first place in the message or the stack that is neither the runtime's nor a compiler's. */
function namedPlace(text: string, file: string): string {
  const places = [...text.matchAll(PLACE)].filter(([, path = ""]) => !/\/node_modules\/(?:tsx|esbuild)\//.test(path));
  const [found] = places.filter(([, path]) => path === file).concat(places);
  if (found === undefined) return "";
  const [, path = "", line = "", column] = found;
  return [decodeURI(path), line, ...(column === undefined ? [] : [column])].join(":");
}

/** Node knows the place of a syntax error, but tells it only where it prints the error itself. */
function checkedPlace(error: unknown, file: string): string {
  if (
    OWN_ROOT === "" ||
    !(error instanceof SyntaxError) ||
    process.versions["bun"] !== undefined ||
    process.versions["deno"] !== undefined
  )
    return "";
  try {
    execFileSync(process.execPath, ["--check", file], { stdio: ["ignore", "ignore", "pipe"], timeout: 5_000 });
    return "";
  } catch (failure) {
    return namedPlace(String((failure as { stderr?: unknown }).stderr ?? ""), file);
  }
}

/** The lines of a file; none if it can't be read. */
export function linesOf(path: string): readonly string[] {
  try {
    return readBoundedNow(path, MOST_BYTES).toString("utf8").split("\n");
  } catch {
    return [];
  }
}

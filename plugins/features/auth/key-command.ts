import { hash, randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { CommandError, type Input, print, UsageError } from "../../../config/command.ts";
import { readDocuments } from "../../../config/read/documents.ts";
import { readFiles } from "../../../config/read/files.ts";
import { fit } from "../../../config/read/fit.ts";
import { formatProblems, isMapping, type Problem } from "../../../config/read/problems.ts";
import { editFile } from "../../../config/read/replace-file.ts";
import { z } from "../../../core/contract/options.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { thrownCode } from "../../../core/contract/thrown-text.ts";
import { columnTable } from "../../../core/report/table.ts";
import { keyText, withKey, withoutKey } from "./edit-keys.ts";
import { type KeyEntry, keyEntry } from "./key-entry.ts";

const USAGE = "signalbox key new NAME [-f FILE] | list -f FILE | revoke NAME -f FILE";
/** Those who search texts for keys find it by this. */
const PREFIX = "sbx-";

/** `signalbox key`: makes, lists and revokes clients' keys. Returns the exit code. */
export function key(input: Input): Promise<number> {
  const [action, name, ...others] = input.words;
  const isNamed = name !== undefined && others.length === 0;
  if (action === "new" && isNamed) return makeKey(input, name);
  if (action === "list" && name === undefined) return listKeys(input, fileOf(input));
  if (action === "revoke" && isNamed) return revoke(name, fileOf(input));
  throw new UsageError(`Say what to do: ${USAGE}`);
}

function fileOf(input: Input): string {
  const file = input.text("file");
  if (file === undefined) throw new UsageError("Name the file with the keys: -f keys.yaml");
  return file;
}

/** The key goes to one output and its entry to the other, so that neither gets into a file by mistake. */
async function makeKey(input: Input, name: string): Promise<number> {
  const entry = entryOf(input, name, "0".repeat(64));
  const made = PREFIX + randomBytes(32).toString("base64url");
  const known = { ...entry, sha256: hash("sha256", made, "hex") };
  const file = input.text("file");
  if (file !== undefined) await addTo(file, known);
  if (input.isJson) return print(input, { key: made, entry: known }, () => "");
  const told = `The key of ${name}, which is shown only now:`;
  if (file === undefined) {
    process.stderr.write(`${told}\n${made}\nIts entry, for spec.auth.keys or the keys file:\n`);
    process.stdout.write(keyText(known));
  } else {
    process.stderr.write(`${told}\n`);
    process.stdout.write(`${made}\n`);
  }
  return 0;
}

/** Throws UsageError for a switch that no entry can have. */
function entryOf(input: Input, name: string, sha256: string): KeyEntry {
  const models = input.text("models")?.split(",");
  const written = { name, sha256, ...(models && { models }), ...textsOf(input, ["tenant", "expires"]) };
  const entry = keyEntry.safeParse(written);
  if (entry.success) return { ...entry.data, name };
  const [issue] = entry.error.issues;
  throw new UsageError(`The ${String(issue?.path[0])} must be ${issue?.message}.`);
}

function textsOf(input: Input, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (input.text(name) === undefined ? [] : [[name, input.text(name)!]])));
}

/** A file that is not there is made, for its owner alone. */
async function addTo(file: string, entry: KeyEntry): Promise<void> {
  try {
    await (await open(file, "ax", 0o600)).close();
  } catch (thrown) {
    const code = thrownCode(thrown);
    if (code !== "EEXIST") throw new CommandError(1, `${file} can't be written (${code || thrown}): name another file`);
  }
  await editFile(file, (text) => withKey(text, entry), "it has just been deleted");
}

async function revoke(name: string, file: string): Promise<number> {
  await editFile(file, (text) => withoutKey(text, name), "name the file that holds the key");
  process.stdout.write(`The key of ${name} is revoked as soon as the router has read ${file}; requests under way finish.\n`);
  return 0;
}

async function listKeys(input: Input, file: string): Promise<number> {
  const keys = await keysIn(file);
  const shown = keys.map(({ sha256: _hidden, ...others }) => others);
  return print(input, shown, () => `${keys.length === 0 ? "No keys." : keyTable(keys, Date.now())}\n`);
}

/** Of a keys file, or of a Router document. Rejects with a CommandError that lists every problem. */
async function keysIn(file: string): Promise<readonly KeyEntry[]> {
  const problems: Problem[] = [];
  const texts = await readFiles([file], problems);
  const keys = texts
    .flatMap(({ file: name, text }) => readDocuments(name, text, problems))
    .flatMap((document) => fit({ ...document, value: listIn(document.value) }, z.array(keyEntry), {}, true)?.document ?? []);
  if (problems.length > 0) throw new CommandError(1, printableLines(formatProblems(problems)));
  return keys;
}

function listIn(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const auth = isMapping(value["spec"]) ? value["spec"]["auth"] : undefined;
  return isMapping(auth) ? (auth["keys"] ?? []) : [];
}

function keyTable(keys: readonly KeyEntry[], nowMs: number): string {
  const isOver = (expires: string | undefined) => expires !== undefined && Date.parse(expires) <= nowMs;
  return columnTable<KeyEntry>(
    [
      ["NAME", ({ name }) => name, "left"],
      ["TENANT", ({ name, tenant = name }) => tenant, "left"],
      ["MODELS", ({ models }) => models?.join(", ") ?? "all", "left"],
      ["EXPIRES", ({ expires }) => `${expires ?? "never"}${isOver(expires) ? " (over)" : ""}`, "left"],
      ["LIMITS", ({ limits = {} }) => limitsText(limits) || "none", "left"],
    ],
    keys,
  ).join("\n");
}

function limitsText({ requestsPerMinute, tokensPerMinute, concurrency }: NonNullable<KeyEntry["limits"]>): string {
  const texts = [
    requestsPerMinute && `${requestsPerMinute} requests/min`,
    tokensPerMinute && `${tokensPerMinute} tokens/min`,
    concurrency && `${concurrency} at once`,
  ];
  return texts.filter((text) => text).join(", ");
}

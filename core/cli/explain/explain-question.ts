import { readFileSync } from "node:fs";
import type { Input } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";

/** A request that a dry run is asked about. */
export interface BodyQuestion {
  readonly path: string;
  /** Names in lower case, each once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

const DEFAULT_PATH = "/v1/chat/completions";
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/;

/** Reads the body from its file, or from the standard input for "-". Throws UsageError. */
export async function readQuestion(input: Input): Promise<BodyQuestion> {
  const path = input.text("path") ?? DEFAULT_PATH;
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new UsageError(`--path wants a path such as ${DEFAULT_PATH}, not "${path}".`);
  const headers = headersOf(input.all("header"));
  return { path, headers, body: await bytesOf(input.text("file") ?? "-") };
}

/** A name that is given twice has both values, as HTTP joins them. */
function headersOf(texts: readonly string[]): BodyQuestion["headers"] {
  const headers = new Map<string, string>();
  for (const text of texts) {
    const [, name, value] = HEADER.exec(text) ?? [];
    // The text may hold a secret, so it is not shown.
    if (name === undefined || value === undefined)
      throw new UsageError('--header wants a name and a value, such as "x-user: ada".');
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return [...headers];
}

async function bytesOf(file: string): Promise<Uint8Array> {
  if (file === "-") return readInput();
  try {
    return readFileSync(file);
  } catch {
    throw new UsageError(`-f names a file that can't be read: ${file}.`);
  }
}

async function readInput(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts);
}

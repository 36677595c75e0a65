import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "../core/contract/options.ts";
import type { Finding, Report } from "./problems.ts";

/** A text that must not be shown. As JSON it has no text, so that a config can be printed. */
export interface Secret {
  /** Where it comes from, such as "env:TOKEN". */
  readonly from: string;
  reveal(): string;
}

/**
 * Where a secret is. The schema also takes what is none, because its messages would quote it; `readSecret` refuses it without
 * repeating it.
 */
export const secretPlace = z.union([
  z.string(),
  z.number(),
  z.strictObject({ env: z.string().describe("Name of an environment variable.") }),
  z.strictObject({ file: z.string().describe("A file whose content it is; relative to this config file.") }),
]);

type SecretPlace = z.infer<typeof secretPlace>;

const LONGEST = 4096;

/** Reads a secret. Reports a problem at `path` and returns undefined if there is none to read. */
export async function readSecret(
  place: SecretPlace,
  path: readonly string[],
  configFile: string,
  report: Report,
): Promise<Secret | undefined> {
  const from = fromOf(place);
  const text = from === undefined ? PLAIN_TEXT : await textOf(from, configFile);
  const finding = typeof text === "string" ? faultOf(text) : text;
  if (finding === undefined && from !== undefined && typeof text === "string") return { from, reveal: () => text };
  if (finding !== undefined) report(path, finding);
  return undefined;
}

const PLAIN_TEXT: Finding = {
  found: "a secret in plain text",
  wanted: "env:NAME or file:PATH, which say where it is",
  hint: "Move it to an environment variable or a file, and change it if others could read this file.",
};

function fromOf(place: SecretPlace): string | undefined {
  if (typeof place === "number") return undefined;
  if (typeof place === "string") return /^env:[A-Za-z_][A-Za-z0-9_]*$|^file:./.test(place) ? place : undefined;
  return fromOf("env" in place ? `env:${place.env}` : `file:${place.file}`);
}

/** The file that the secret is in, absolute; none for a variable. */
export function secretFiles(place: SecretPlace, configFile: string): readonly string[] {
  const from = fromOf(place);
  return from?.startsWith("file:") ? [pathOf(from, configFile)] : [];
}

function pathOf(from: string, configFile: string): string {
  return resolve(dirname(configFile), from.slice("file:".length));
}

async function textOf(from: string, configFile: string): Promise<string | Finding> {
  const name = from.slice(from.indexOf(":") + 1);
  if (from.startsWith("env:")) {
    const value = process.env[name];
    return value ?? { found: `no environment variable ${name}`, wanted: "one that holds the secret", hint: "Set it." };
  }
  try {
    return (await readFile(pathOf(from, configFile), "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { found: `no readable file ${name} (${code})`, wanted: "a file that holds the secret and nothing else" };
  }
}

/** A secret is sent in headers. */
function faultOf(text: string): Finding | undefined {
  if (text === "") return { found: "an empty secret", wanted: "at least one character" };
  if (text.length <= LONGEST && /^[\x21-\x7e]+$/.test(text)) return undefined;
  return {
    found: "a secret with spaces, line breaks or other characters that no header can hold",
    wanted: `at most ${LONGEST} visible ASCII characters`,
  };
}

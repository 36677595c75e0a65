import { z } from "../../core/contract/options.ts";
import { type Secret, secretOf } from "../../core/contract/secret.ts";
import { readBounded } from "../../core/runtime/read-file.ts";
import type { SourceFile } from "./documents.ts";
import { besideFile, unreadableFile } from "./files.ts";
import { type Finding, type Path, quoted } from "./problems.ts";

/** Keys whose values may be secrets that somebody wrote into the config by mistake: messages never quote them. */
const SECRET_KEYS: ReadonlySet<string | number> = new Set(["auth", "bearer", "token", "tokens", "sha256", "shared"]);

/** In a plugin's parameters, values of the headers that it sends. */
const isPluginHeader = (step: string | number, index: number, path: Path) =>
  step === "headers" && path[index - 1] === "parameters" && index < path.length - 1;

const MOST_BYTES = 64 * 1024;
const WANTED = 'env:NAME or file:PATH: the config says where the secret is, such as "env:REPLICA_KEY" or "file:/run/secrets/key"';

/** Where a secret is: "env:NAME", an environment variable, or "file:PATH", a file whose path is relative to the config file. */
export const secretReference = z.string().regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\x00-\x1f\x7f]+)$/, WANTED);

/** Whether the value at this path may be a secret. */
export function isSecretPath(path: Path): boolean {
  return path.some((step) => SECRET_KEYS.has(step)) || path.some(isPluginHeader);
}

/**
 * Reads the secret that `reference` names, and adds its file to `files`; one line feed at its end is not part of it. Reports a problem at `path` and resolves
 * to undefined if the secret is missing, empty, or has other characters than visible ASCII, which no header could carry.
 */
export async function readSecret(
  reference: string,
  path: Path,
  { file, report }: SourceFile,
  files: Set<string>,
): Promise<Secret | undefined> {
  const name = reference.slice(reference.indexOf(":") + 1);
  const secretFile = reference.startsWith("env:") ? undefined : besideFile(file, name);
  if (secretFile !== undefined) files.add(secretFile);
  const found = secretFile === undefined ? fromEnvironment(name) : await fromFile(secretFile);
  if (typeof found === "string") return secretOf(found, reference);
  report(path, found);
  return undefined;
}

function fromEnvironment(name: string): string | Finding {
  let text: string | undefined;
  try {
    text = process.env[name];
  } catch {
    // A runtime may forbid it.
    return { found: `the environment variable ${name}, which may not be read`, wanted: "a start that allows it" };
  }
  if (text === undefined) {
    const hint = `Set it where the router starts: ${name}=… npm start.`;
    return { found: `the environment variable ${name}, which is not set`, wanted: "a variable that holds the secret", hint };
  }
  return checked(text, `the environment variable ${name}`);
}

async function fromFile(path: string): Promise<string | Finding> {
  let text: string;
  try {
    text = (await readBounded(path, MOST_BYTES)).toString("utf8");
  } catch (error) {
    return unreadableFile(path, error, "a file that holds the secret");
  }
  return checked(text, `the file ${quoted(path)}`);
}

function checked(text: string, place: string): string | Finding {
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") return { found: `${place}, which is empty`, wanted: "the secret in it" };
  if (secret.length > MOST_BYTES) return { found: `${place}, which holds more than 64 KiB`, wanted: "a secret alone" };
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  const found = `${place}, which holds a space, a line break or a character outside of ASCII`;
  return { found, wanted: "the secret alone, in visible ASCII characters" };
}

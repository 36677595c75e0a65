import type { Finding } from "./problems.ts";

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

export interface Expanded {
  readonly text: string;
  /** Whether anything was replaced. */
  readonly isChanged: boolean;
  readonly problem: Finding | undefined;
}

/**
 * The text with the values of environment variables: ${NAME}, or ${NAME:-default} for one that may be unset or empty. $${ stands for
 * the characters ${ themselves.
 */
export function expanded(text: string, environment: Readonly<Record<string, string | undefined>>): Expanded {
  if (!text.includes("${")) return { text, isChanged: false, problem: undefined };
  let problem: Finding | undefined;
  const result = text.replace(REFERENCE, (found, name: string | undefined, otherwise: string | undefined) => {
    if (found === "$${") return "${";
    if (name === undefined) {
      problem ??= MALFORMED;
      return found;
    }
    const value = environment[name];
    if (value !== undefined && (value !== "" || otherwise === undefined)) return value;
    if (otherwise === undefined) problem ??= unset(name);
    return otherwise ?? "";
  });
  return { text: result, isChanged: true, problem };
}

const MALFORMED: Finding = {
  found: `\${ without a name and a closing }`,
  wanted: `\${NAME} or \${NAME:-default}`,
  hint: `For the characters themselves, write $\${.`,
};

function unset(name: string): Finding {
  return { found: `no environment variable ${name}`, wanted: `a value for it, or a default: \${${name}:-default}` };
}

/** What an unquoted text stands for in YAML: a number, true, false, or the text. */
export function plainValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}

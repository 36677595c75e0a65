import { parseArgs } from "node:util";
import type { CheckOptions } from "../../config/check.ts";
import { switchError, UsageError } from "./usage.ts";

export interface StartArguments {
  readonly urls: readonly string[];
  readonly files: readonly string[];
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly adminPort: number | undefined;
}

export function readStartArguments(argv: readonly string[]): StartArguments {
  const { values, positionals } = parse(argv, {
    file: { type: "string", short: "f", multiple: true },
    host: { type: "string" },
    port: { type: "string" },
    "admin-port": { type: "string" },
  });
  return {
    urls: positionals,
    files: (values["file"] as string[] | undefined) ?? [],
    host: values["host"] as string | undefined,
    port: readPort("--port", values["port"]),
    adminPort: readPort("--admin-port", values["admin-port"]),
  };
}

export function readCheckArguments(argv: readonly string[]): CheckOptions {
  const { values, positionals } = parse(argv, {
    file: { type: "string", short: "f", multiple: true },
    json: { type: "boolean" },
    strict: { type: "boolean" },
  });
  const isUrl = (word: string) => /^https?:\/\//i.test(word);
  const paths = [...((values["file"] as string[] | undefined) ?? []), ...positionals.filter((word) => !isUrl(word))];
  if (paths.length === 0) throw new UsageError("Name the files to check: signalbox check -f signalbox.yaml");
  return { paths, urls: positionals.filter(isUrl), isJson: values["json"] === true, isStrict: values["strict"] === true };
}

type Options = Readonly<
  Record<string, { readonly type: "string" | "boolean"; readonly short?: string; readonly multiple?: boolean }>
>;

function parse(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (thrown) {
    throw switchError(thrown, '"signalbox --help"');
  }
}

function readPort(name: string, value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new UsageError(`${name} wants a number from 0 to 65535, not "${value}".`);
}

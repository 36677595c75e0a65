import { parseArgs } from "node:util";
import type { CheckOptions } from "../../config/check.ts";
import { DEFAULT_ADMIN } from "../../config/defaults.ts";
import type { EndpointUrl } from "../contract/endpoint.ts";
import { parseEndpointUrl } from "../control/endpoint-url.ts";
import { UsageError } from "./usage.ts";

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

/** Arguments of the commands that query a running router. */
export interface AskArguments {
  readonly admin: EndpointUrl;
  readonly isJson: boolean;
  readonly words: readonly string[];
}

export function readStatusArguments(argv: readonly string[]): AskArguments {
  const asked = readAskArguments(argv);
  if (asked.words.length > 0)
    throw new UsageError(`"signalbox status" takes no further arguments; name a router with --admin URL.`);
  return asked;
}

export function readExplainArguments(argv: readonly string[]): AskArguments {
  const asked = readAskArguments(argv);
  if (asked.words.length !== 1)
    throw new UsageError("Name one request by the x-request-id of its response: signalbox explain REQUEST_ID");
  return asked;
}

function readAskArguments(argv: readonly string[]): AskArguments {
  const { values, positionals } = parse(argv, { admin: { type: "string" }, json: { type: "boolean" } });
  return { admin: readAdminUrl(values["admin"]), isJson: values["json"] === true, words: positionals };
}

function readAdminUrl(value: unknown): EndpointUrl {
  try {
    return parseEndpointUrl(typeof value === "string" ? value : DEFAULT_ADMIN_URL);
  } catch {
    throw new UsageError(`--admin wants the address of a router's admin port, such as ${DEFAULT_ADMIN_URL}.`);
  }
}

const DEFAULT_ADMIN_URL = `http://${DEFAULT_ADMIN.host}:${DEFAULT_ADMIN.port}`;

type Options = Readonly<
  Record<string, { readonly type: "string" | "boolean"; readonly short?: string; readonly multiple?: boolean }>
>;

function parse(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new UsageError(`${message.split(". To specify")[0]}; "signalbox --help" lists the switches.`);
  }
}

function readPort(name: string, value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new UsageError(`${name} wants a number from 0 to 65535, not "${value}".`);
}

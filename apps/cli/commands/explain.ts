import { type Input, print, UsageError } from "../../../config/command.ts";
import { featureTexts } from "../../../config/feature.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import type { DryRunRequest } from "../../../core/intake/dry-run.ts";
import type { DecisionReport, DryRunReport } from "../../../core/report/report-schema.ts";
import { readBounded } from "../../../core/runtime/read-file.ts";
import { apiPath, askAdmin } from "../admin/ask-admin.ts";
import { decisionText, dryRunText } from "../explain/decision-text.ts";
import { headersOf, onlyWord } from "../frame/command.ts";

const DEFAULT_PATH = "/v1/chat/completions";
const EXAMPLES = "signalbox explain REQUEST_ID, or signalbox explain -f body.json";

/**
 * `signalbox explain`: prints why a request went to its replica, or, with a body, where one would go now. Returns the exit code.
 */
export async function explain(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  if (input.text("file") === undefined) {
    refuseBodySwitches(input);
    const id = onlyWord(input, "one request by the x-request-id of its response, or a body", EXAMPLES);
    const texts = featureTexts(registry);
    const { decisions, notes } = await askAdmin<Ended>(input, apiPath(["explain", id]));
    const text = [...decisions.map((decision) => decisionText(decision, texts)), ...notes.map((note) => `${note}\n`)].join("\n");
    return print(input, decisions, () => text);
  }
  if (input.words.length > 0) throw new UsageError(`Name a request or a body, not both: ${EXAMPLES}`);
  const report = await askAboutBody(input, await readQuestion(input), registry);
  return print(input, report, () => dryRunText(report));
}

function refuseBodySwitches(input: Input): void {
  const given = ["path", "header", "snapshot", "config"].find(
    (name) => input.text(name) !== undefined || input.all(name).length > 0,
  );
  if (given !== undefined) throw new UsageError(`--${given} is for a body: ${EXAMPLES}`);
}

interface Ended {
  readonly decisions: readonly DecisionReport[];
  readonly notes: readonly string[];
}

async function askAboutBody(
  input: Input,
  question: DryRunRequest,
  registry: ReadonlyMap<string, Definition>,
): Promise<DryRunReport> {
  const snapshot = input.text("snapshot");
  if (snapshot !== undefined) {
    const { explainOffline } = await import("../explain/explain-offline.ts");
    return explainOffline(question, { snapshot, configs: input.all("config"), registry });
  }
  if (input.all("config").length > 0)
    throw new UsageError("--config goes with --snapshot; a router explains with its own config.");
  const { path, headers, body } = question;
  const asked = { path, headers: Object.fromEntries(headers), ...asText(body) };
  return askAdmin(input, apiPath(["explain"]), { method: "POST", body: JSON.stringify(asked) });
}

/** As text if it is UTF-8, and else in base64, so that the router gets the same bytes. */
function asText(bytes: Uint8Array): { readonly body: string } | { readonly bodyBase64: string } {
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { bodyBase64: Buffer.from(bytes).toString("base64") };
  }
}

/** Reads the body from its file, or from the standard input for "-". Throws UsageError. */
async function readQuestion(input: Input): Promise<DryRunRequest> {
  const path = input.text("path") ?? DEFAULT_PATH;
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new UsageError(`--path wants a path such as ${DEFAULT_PATH}, not "${path}".`);
  const headers = [...headersOf(input)];
  return { path, headers, body: await bytesOf(input.text("file") ?? "-") };
}

async function bytesOf(file: string): Promise<Uint8Array> {
  if (file === "-") return readInput();
  try {
    return await readBounded(file, Infinity);
  } catch {
    throw new UsageError(`-f names a file that can't be read: ${file}.`);
  }
}

async function readInput(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts);
}

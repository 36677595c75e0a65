import type { Definition } from "../../contract/plugin.ts";
import type { DecisionReport, DryRunReport } from "../../report/report-schema.ts";
import { apiPath, askAdmin, askAdminWith } from "../admin/ask-admin.ts";
import { decisionText, dryRunText } from "../explain/decision-text.ts";
import { type BodyQuestion, readQuestion } from "../explain/explain-question.ts";
import { type Input, onlyWord } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";

const EXAMPLES = "signalbox explain REQUEST_ID, or signalbox explain -f body.json";

/**
 * `signalbox explain`: prints why a request went to its replica, or, with a body, where one would go now. Returns the exit code.
 */
export async function explain(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const { isJson, words } = input;
  if (input.text("file") === undefined) {
    refuseBodySwitches(input);
    const { decisions, notes } = await askAboutEnded(input);
    const text = [...decisions.map(decisionText), ...notes.map((note) => `${note}\n`)].join("\n");
    process.stdout.write(isJson ? `${JSON.stringify(decisions, undefined, 2)}\n` : text);
    return 0;
  }
  if (words.length > 0) throw new UsageError(`Name a request or a body, not both: ${EXAMPLES}`);
  const report = await askAboutBody(input, await readQuestion(input), registry);
  process.stdout.write(isJson ? `${JSON.stringify(report, undefined, 2)}\n` : dryRunText(report));
  return 0;
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

/** The admin API's own response, so its shape is known. */
async function askAboutEnded(input: Input): Promise<Ended> {
  const id = onlyWord(input, "one request by the x-request-id of its response, or a body", EXAMPLES);
  return (await askAdmin(input.admin, `/api/v1${apiPath(["explain", id])}`)) as Ended;
}

async function askAboutBody(
  input: Input,
  question: BodyQuestion,
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
  return (await askAdminWith(input.admin, "/explain", {
    path,
    headers: Object.fromEntries(headers),
    ...asText(body),
  })) as DryRunReport;
}

/** As text if it is UTF-8, and else in base64, so that the router gets the same bytes. */
function asText(bytes: Uint8Array): { readonly body: string } | { readonly bodyBase64: string } {
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { bodyBase64: Buffer.from(bytes).toString("base64") };
  }
}

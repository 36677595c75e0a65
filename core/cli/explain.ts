import type { CandidateReport, DecisionReport } from "../contract/decision-report.ts";
import { askAdmin } from "./ask-admin.ts";
import { type Input, onlyWord } from "./command.ts";
import { besideFacts } from "./explain-beside.ts";
import { type Alignment, table } from "./table.ts";

/** `signalbox explain`: prints why a request went to its replica. Returns the exit code. */
export async function explain(input: Input): Promise<number> {
  const { admin, isJson } = input;
  const id = onlyWord(input, "one request by the x-request-id of its response", "signalbox explain REQUEST_ID");
  // The admin port's own page, so its shape is known.
  const { decisions } = (await askAdmin(admin, `/decisions?id=${encodeURIComponent(id)}`)) as { decisions: DecisionReport[] };
  if (decisions.length === 0) {
    process.stderr.write("The router does not know this request: it keeps only the last ones that have ended.\n");
    return 1;
  }
  process.stdout.write(isJson ? `${JSON.stringify(decisions, undefined, 2)}\n` : decisions.map(decisionText).join("\n"));
  return 0;
}

/** One decision as text for people. */
export function decisionText(report: DecisionReport): string {
  const facts = [
    ["request", `${report.id}, ${report.api}, ended ${report.time}`],
    ["outcome", outcomeText(report)],
    ["model", modelText(report)],
    ["prompt", `about ${whole(report.promptTokens)} tokens, ${whole(report.requestBytes)} bytes`],
    ...cacheFacts(report),
    ...report.dropped.map(({ filter, endpoints, reasons }) => [
      "dropped",
      `by ${filter}: ${endpoints.map((name) => (reasons[name] === undefined ? name : `${name} (${reasons[name]})`)).join(", ")}`,
    ]),
    ...report.faults.map(({ plugin, message }) => ["fault", `${plugin} was ignored: ${message}`]),
    ["why", report.why],
    ...besideFacts(report),
    ["tried", report.attempts.map(({ endpoint, result }) => `${endpoint} (${result})`).join(", then ") || "none"],
  ];
  return `${[...table(["left", "left"], facts), ...candidateLines(report)].join("\n")}\n`;
}

function cacheFacts({ cache }: DecisionReport): readonly (readonly string[])[] {
  if (cache === null) return [];
  const { predictedTokens, reportedTokens, reportedPromptTokens } = cache;
  const predicted = predictedTokens === null ? "" : `${whole(predictedTokens)} tokens of it expected in the replica's cache`;
  const length = reportedPromptTokens === null ? "" : ` of ${whole(reportedPromptTokens)}`;
  const reported = reportedTokens === null ? "" : `${whole(reportedTokens)}${length} cached, as the replica reported`;
  return [["cache", [predicted, reported].filter((text) => text !== "").join("; ") || "unknown"]];
}

function outcomeText({ status, ending, errorCode, durationMs, firstByteMs }: DecisionReport): string {
  const words = [
    status === 0 ? "no response" : `status ${status}`,
    ending === "complete" ? "" : ending,
    errorCode,
    `after ${milliseconds(durationMs)}`,
    firstByteMs === null ? "" : `first byte after ${milliseconds(firstByteMs)}`,
  ];
  return words.filter((word) => word !== "").join(", ");
}

function modelText({ model, target, rule }: DecisionReport): string {
  if (rule !== "") return `${model} -> ${target}, by the rule ${rule}`;
  return model === "" ? "none was read" : model;
}

/** A table with a row for each candidate, in the order of tries, and a column for each scorer. */
function candidateLines({ candidates, scorers, poolSize }: DecisionReport): readonly string[] {
  if (candidates.length === 0) return [];
  const titles = scorers.map(({ name, weight }) => `${name} x ${weight}`);
  const rows = candidates.map((candidate) => [
    candidate.endpoint,
    ...candidate.scores.map((_, index) => scoreText(candidate, index)),
    candidate.total.toFixed(3),
  ]);
  const alignments: Alignment[] = ["left", ...scorers.map((): Alignment => "right"), "right"];
  const title = `${candidates.length} of ${poolSize} replicas could serve it:`;
  return ["", title, ...table(alignments, [["replica", ...titles, "total"], ...rows])];
}

function scoreText({ scores, confidences }: CandidateReport, index: number): string {
  const score = scores[index];
  if (score === null || score === undefined) return "-";
  const confidence = confidences[index] ?? 1;
  return confidence === 1 ? score.toFixed(3) : `${score.toFixed(3)} (confidence ${Math.round(confidence * 100)}%)`;
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const milliseconds = (ms: number) => (ms < 10_000 ? `${Math.round(ms * 10) / 10} ms` : `${(ms / 1000).toFixed(1)} s`);

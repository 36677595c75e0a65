import type { FeatureText } from "../../../config/feature.ts";
import { whole, milliseconds as wholeMs } from "../../../core/report/number-text.ts";
import type { CandidateReport, ChoiceReport, DecisionReport, DryRunReport } from "../../../core/report/report-schema.ts";
import { type Column, columnTable, table } from "../../../core/report/table.ts";
import { targetLabel } from "../../../core/report/target-label.ts";

/** More rows would hide those that matter. */
const CANDIDATES_SHOWN = 16;

type Row = readonly [title: string, text: string];

/** Why a request went to its replica, as text for people: the reason on top, then what it comes from. */
export function decisionText(report: DecisionReport, texts: readonly FeatureText[]): string {
  return reportText(report, [
    ["request", `${report.id}, ${report.api}, ended ${report.time}`],
    ["outcome", outcomeText(report)],
    ["tried", report.attempts.map(({ endpoint, result }) => `${endpoint} (${result})`).join(", then ") || "none"],
    ...requestRows(report),
    ...cacheRows(report),
    ...texts.flatMap((text) => text.decision?.(report) ?? []),
    ...report.notes.map((note): Row => ["note", note]),
  ]);
}

/** What would be decided, in the same way. */
export function dryRunText(report: DryRunReport): string {
  return reportText(report, [
    ["dry run", `POST ${report.path}, ${report.api}, as of ${report.time}; nothing was sent`],
    ...requestRows(report),
    ...report.notes.map((note): Row => ["note", note]),
  ]);
}

function reportText(report: ChoiceReport, rows: readonly Row[]): string {
  const facts = [...rows, ...droppedRows(report), ...faultRows(report)];
  return `${[report.why, "", ...table(["left", "left"], facts), ...candidateLines(report)].join("\n")}\n`;
}

function requestRows(report: ChoiceReport & { readonly requestBytes: number }): readonly Row[] {
  return [
    ["model", modelText(report)],
    ["prompt", `about ${whole(report.promptTokens)} tokens, ${whole(report.requestBytes)} bytes`],
  ];
}

function modelText({ model, target, rule, draw }: ChoiceReport): string {
  if (rule === "") return model === "" ? "none was read" : model;
  const drawn = `${model} -> ${target}, by the rule ${rule}`;
  if (draw === null) return drawn;
  const weights = draw.targets.map((target) => `${targetLabel(target)} ${target.weight}`).join(", ");
  if (draw.targets.length === 1) return drawn;
  return `${drawn}: ${draw.by === "share" ? "drawn by the weights" : `drawn by the header ${draw.header}`} (${weights})`;
}

function cacheRows({ cache }: DecisionReport): readonly Row[] {
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

function droppedRows({ dropped }: ChoiceReport): readonly Row[] {
  return dropped.map(({ filter, endpoints, reasons }) => {
    const named = endpoints.map((name) => (reasons[name] === undefined ? name : `${name} (${reasons[name]})`));
    const more = named.length - CANDIDATES_SHOWN;
    const shown = named.slice(0, CANDIDATES_SHOWN).join(", ");
    return ["dropped", `by ${filter}: ${more > 0 ? `${shown} and ${more} more` : shown}`];
  });
}

function faultRows({ faults }: ChoiceReport): readonly Row[] {
  return faults.map(({ plugin, message }) => ["fault", `${plugin} was ignored: ${message}`]);
}

/** A table with a row for each candidate, in the order of tries: what was expected, then a column for each scorer. */
function candidateLines({ candidates, scorers, poolSize, picker }: ChoiceReport): readonly string[] {
  if (candidates.length === 0) return [];
  const columns: readonly Column<CandidateReport>[] = [
    ["replica", ({ endpoint }) => endpoint, "left"],
    ["cached", ({ cachedTokens }) => number(cachedTokens, whole)],
    ["not cached", ({ uncachedTokens }) => number(uncachedTokens, whole)],
    ["waiting", ({ waitingTokens }) => number(waitingTokens, whole)],
    ["first token", ({ firstTokenMs }) => number(firstTokenMs, milliseconds)],
    ...scorers.map(
      ({ name, weight }, index): Column<CandidateReport> => [`${name} x ${weight}`, (candidate) => scoreText(candidate, index)],
    ),
    ["total", ({ total }) => total.toFixed(3)],
  ];
  const shown = candidates.slice(0, CANDIDATES_SHOWN);
  const more = candidates.length - shown.length;
  return [
    "",
    `${candidates.length} of ${poolSize} replicas could serve it, in the order of the picker ${picker}:`,
    ...columnTable(columns, shown),
    ...(more > 0 ? [`and ${more} more, which --json shows`] : []),
    LEGEND,
    ...(candidates.some(({ firstTokenMs }) => firstTokenMs !== null) ? TIME_LEGEND : NO_TIME_LEGEND),
  ];
}

const LEGEND = "cached, not cached: tokens of this prompt; waiting: tokens of other prompts that were sent there before;";
const TIME_LEGEND = ["first token: expected time; -: unknown"];
const NO_TIME_LEGEND = [
  "first token: not known before the first prompts have shown how fast replicas are. Until then all are taken to be equally fast,",
  "so prompt tokens to compute and requests in flight decide.",
];

function scoreText({ scores, confidences }: CandidateReport, index: number): string {
  const score = scores[index];
  if (score === null || score === undefined) return "-";
  const confidence = confidences[index] ?? 1;
  return confidence === 1 ? score.toFixed(3) : `${score.toFixed(3)} (confidence ${Math.round(confidence * 100)}%)`;
}

const number = (value: number | null, text: (value: number) => string) => (value === null ? "-" : text(value));
const milliseconds = (ms: number) => (ms < 10_000 ? `${Math.round(ms * 10) / 10} ms` : `${(ms / 1000).toFixed(1)} s`);

/** One decision on one line: when it ended, status, duration, time to the first byte, model, where it went, and its id. */
export function decisionLine(report: DecisionReport): string {
  const { id, time, status, durationMs, firstByteMs } = report;
  const columns = [
    time.slice(11, 23),
    status === 0 ? "  -" : String(status),
    wholeMs(durationMs).padStart(9),
    `first ${firstByteMs === null ? "-" : wholeMs(firstByteMs)}`.padEnd(15),
    modelNames(report),
    triesText(report),
    id,
    faultText(report),
  ];
  return columns.join("  ").trimEnd();
}

function modelNames({ model, target }: DecisionReport): string {
  if (model === "") return "(no model)";
  return model === target ? model : `${model} -> ${target}`;
}

/** "gpu-b", or all tries, each with what came of it. */
function triesText({ attempts, status }: DecisionReport): string {
  const [first] = attempts;
  if (first === undefined) return "(no replica)";
  if (attempts.length === 1 && first.result === status) return first.endpoint;
  return attempts.map(({ endpoint, result }) => `${endpoint} (${result})`).join(", ");
}

function faultText({ ending, errorCode }: DecisionReport): string {
  return [ending === "complete" ? "" : ending, errorCode].filter((word) => word !== "").join(", ");
}

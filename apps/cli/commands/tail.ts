import { isatty } from "node:tty";
import { type Input, UsageError } from "../../../config/command.ts";
import { type FeatureText, featureTexts } from "../../../config/feature.ts";
import { durationMs } from "../../../config/schema/units.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { counted } from "../../../core/report/number-text.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import { terminalColumns, wrappedLines } from "../../../core/report/text-width.ts";
import { openOutput } from "../../../core/runtime/standard-output.ts";
import { apiPath, printableJson, tokenHeader } from "../admin/ask-admin.ts";
import { followEvents } from "../admin/follow-events.ts";
import { decisionLine, decisionText } from "../explain/decision-text.ts";
import { OutputWriter } from "../output-writer.ts";
import { colouredDecision } from "../show/colour.ts";
import { stopSignal } from "../start/signals.ts";

/** How long the program waits at its end for the readers of its outputs. */
const LAST_LINES_MS = 300;
/** What does not fit beside the time stands below it, so that times are found at a glance. */
const INDENT = 14;

/**
 * `signalbox tail`: prints each decision as its request ends, until a signal, or until nobody can read the output any more. Returns the
 * exit code.
 */
export async function tail(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const { admin, isJson } = input;
  const path = apiPath(["decisions", "stream"], filtersOf(input));
  const ending = new AbortController();
  const end = () => ending.abort();
  void stopSignal().then(end);
  const lines = new OutputWriter({
    clock: systemClock,
    write: openOutput(1),
    notice: (count) => missing(count, "line", isJson),
    onBroken: end,
  });
  const notice = (count: number) => `${counted(count, "line is", "lines are")} missing here`;
  const errors = new OutputWriter({ clock: systemClock, write: openOutput(2), notice });
  const isTerminal = isatty(1);
  const texts = featureTexts(registry);
  if (isTerminal && !isJson) errors.write(`Decisions of ${admin.href} as they are made; Ctrl-C ends.\n`);
  const event = (type: string, data: string) => {
    const columns = terminalColumns(isTerminal);
    if (type === "message") lines.write(`${shown(printableJson(data) as DecisionReport, texts, input, columns)}\n`);
    if (type === "dropped") lines.write(`${missing((printableJson(data) as { count: number }).count, "decision", isJson)}\n`);
  };
  try {
    const say = (text: string) => errors.write(`signalbox: ${text}\n`);
    await followEvents({ admin, headers: tokenHeader(input), path, signal: ending.signal, event, say });
    return 0;
  } finally {
    const isWritten = await Promise.all([lines.flush(LAST_LINES_MS), errors.flush(LAST_LINES_MS)]);
    // A write that nobody reads would keep the process from ending by itself.
    if (!isWritten.every(Boolean)) process.exit(0);
  }
}

function filtersOf(input: Input): Readonly<Record<string, string | number | undefined>> {
  const slow = input.text("slow");
  const slowMs = slow === undefined ? undefined : durationMs(slow, 1);
  if (slow !== undefined && slowMs === undefined)
    throw new UsageError(`--slow wants a time such as 500 (milliseconds) or 2s, not "${slow}".`);
  return { model: input.text("model"), status: input.text("status"), endpoint: input.text("endpoint"), slow: slowMs };
}

function shown(report: DecisionReport, texts: readonly FeatureText[], input: Input, columns: number): string {
  if (input.isJson) return JSON.stringify(report);
  return input.has("explain")
    ? wrappedLines(decisionText(report, texts), columns)
    : colouredDecision(wrappedLines(decisionLine(report), columns, INDENT));
}

/** Stands in the output where decisions were dropped. */
function missing(count: number, what: string, isJson: boolean): string {
  if (isJson) return JSON.stringify({ dropped: count });
  return `! ${counted(count, `${what} is`, `${what}s are`)} missing here: ${count === 1 ? "it" : "they"} came faster than ${count === 1 ? "it was" : "they were"} read`;
}

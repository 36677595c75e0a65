import { milliseconds } from "../../report/number-text.ts";
import type { DecisionReport } from "../../report/report-schema.ts";

/** One decision on one line: when it ended, status, duration, time to the first byte, model, where it went, and its id. */
export function decisionLine(report: DecisionReport): string {
  const { id, time, status, durationMs, firstByteMs } = report;
  const columns = [
    time.slice(11, 23),
    status === 0 ? "  -" : String(status),
    milliseconds(durationMs).padStart(9),
    `first ${firstByteMs === null ? "-" : milliseconds(firstByteMs)}`.padEnd(15),
    modelText(report),
    triesText(report),
    id,
    faultText(report),
  ];
  return columns.join("  ").trimEnd();
}

function modelText({ model, target }: DecisionReport): string {
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

import type { Clock } from "../../../core/contract/clock.ts";
import { printable } from "../../../core/contract/printable.ts";
import { counted } from "../../../core/report/number-text.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import type { Router } from "../../../core/router.ts";
import { decisionLine } from "../explain/decision-text.ts";
import { colouredDecision } from "../show/colour.ts";
import { onConfigChange } from "./config-changes.ts";

/**
 * Calls `say` with what each request came to in the plugins of one's own, as it ends, and `passed` with the config that it passed.
 * Returns what ends that.
 */
export function watchPlugins(
  router: Router,
  clock: Clock,
  say: (text: string) => void,
  passed: (config: object) => void,
): () => void {
  const streams = router.config.observers.flatMap(({ plugin }) => plugin.streams ?? []);
  const decisions = streams.find(({ path }) => path === "/decisions/stream");
  // A request that began before says nothing of what is saved now, nor do the faults until it has ended.
  let sinceMs = 0;
  let before: ReadonlyMap<string, number> = new Map();
  const countAnew = () => {
    before = new Map(router.plugins.faults.counts);
  };
  const stopLooking = onConfigChange(router, clock, () => {
    sinceMs = clock.wall();
    countAnew();
  });
  const stopListening = decisions?.listen(new URLSearchParams(), (make) => {
    const report = JSON.parse(make()) as DecisionReport;
    // What no parser reads, such as the list of models, passes no plugin of one's own.
    if (report.api === "") return;
    const isOfThis = Date.parse(report.time) - report.durationMs >= sinceMs;
    if (!isOfThis) countAnew();
    const faults = new Map([...router.plugins.faults.counts].map(([name, count]) => [name, count - (before.get(name) ?? 0)]));
    say(colouredDecision(`${requestText(report, router, faults)}\n`));
    if (isOfThis && report.candidates.length > 0) passed(router.config);
  });
  return () => {
    stopLooking();
    stopListening?.();
  };
}

/** A line for the request, and one for each plugin of one's own. */
function requestText(report: DecisionReport, router: Router, faults: ReadonlyMap<string, number>): string {
  const { filters, scorers, picker } = router.config.profile;
  const isOwn = ({ file = "" }: { readonly file?: string }) => file !== "";
  return [
    decisionLine(report),
    ...filters.filter(isOwn).map(({ name }) => pluginLine(name, filterText(name, report), router, faults)),
    ...scorers.filter(isOwn).map(({ name }) => pluginLine(name, scoresText(name, report), router, faults)),
    ...[picker].filter(isOwn).map(({ name }) => pluginLine(name, orderText(report), router, faults)),
    ...report.faults.map(({ plugin, message }) => `    ! ${printable(plugin)}: ${printable(message)}`),
  ].join("\n");
}

function pluginLine(name: string, what: string, { plugins }: Router, faults: ReadonlyMap<string, number>): string {
  const time = plugins.times.timed.find((each) => each.name === name);
  const meanMs = time && time.timedRequests > 0 ? time.timedMs / time.timedRequests : Number.NaN;
  const cost = Number.isNaN(meanMs) ? "" : `, ${meanMs.toFixed(3)} ms per request${time?.isSlow ? ", too slow" : ""}`;
  const count = faults.get(name) ?? 0;
  return `    ${printable(name)}: ${what}${cost}${count === 0 ? "" : `, ${counted(count, "fault")} so far`}`;
}

function scoresText(name: string, { scorers, candidates }: DecisionReport): string {
  const column = scorers.findIndex((each) => each.name === name);
  if (column === -1) return "no opinion";
  const cells = candidates.map(({ endpoint, scores }) => `${printable(endpoint)} ${scores[column]?.toFixed(2) ?? "–"}`);
  return cells.join("  ");
}

function filterText(name: string, { dropped }: DecisionReport): string {
  const lost = dropped.filter(({ filter }) => filter === name).flatMap(({ endpoints }) => endpoints);
  return lost.length === 0 ? "keeps all" : `drops ${lost.map(printable).join(" ")}`;
}

function orderText({ candidates }: DecisionReport): string {
  return candidates.map(({ endpoint }) => printable(endpoint)).join(", then ");
}

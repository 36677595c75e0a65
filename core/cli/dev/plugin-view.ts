import type { ActiveConfig } from "../../active-config.ts";
import { printable } from "../../contract/printable.ts";
import type { PluginTime } from "../../contract/router-view.ts";
import type { DecisionReport } from "../../report/report-schema.ts";
import { decisionLine } from "../explain/decision-text.ts";

/** What is looked at of a running router. */
export interface SeenRouter {
  readonly config: Pick<ActiveConfig, "profile" | "observers">;
  readonly plugins: {
    readonly times: { readonly timed: readonly PluginTime[] };
    readonly faults: { readonly counts: ReadonlyMap<string, number> };
  };
}

/** Calls `say` with what each request came to in the plugins of one's own, as it ends. Returns what ends that. */
export function watchPlugins(router: SeenRouter, say: (text: string) => void): () => void {
  const streams = router.config.observers.flatMap(({ plugin }) => plugin.streams ?? []);
  const decisions = streams.find(({ path }) => path === "/decisions/stream");
  const end = decisions?.listen(new URLSearchParams(), (make) => {
    say(`${requestText(JSON.parse(make()) as DecisionReport, router)}\n`);
  });
  return end ?? (() => {});
}

/** A line for the request, and one for each plugin of one's own. */
function requestText(report: DecisionReport, router: SeenRouter): string {
  const { filters, scorers, picker } = router.config.profile;
  const isOwn = ({ file = "" }: { readonly file?: string }) => file !== "";
  return [
    decisionLine(report),
    ...filters.filter(isOwn).map(({ name }) => pluginLine(name, filterText(name, report), router)),
    ...scorers.filter(isOwn).map(({ name }) => pluginLine(name, scoresText(name, report), router)),
    ...[picker].filter(isOwn).map(({ name }) => pluginLine(name, orderText(report), router)),
    ...report.faults.map(({ plugin, message }) => `    ! ${printable(plugin)}: ${printable(message)}`),
  ].join("\n");
}

function pluginLine(name: string, what: string, { plugins }: SeenRouter): string {
  const time = plugins.times.timed.find((each) => each.name === name);
  const meanMs = time && time.timedRequests > 0 ? time.timedMs / time.timedRequests : Number.NaN;
  const cost = Number.isNaN(meanMs) ? "" : `, ${meanMs.toFixed(3)} ms per request${time?.isSlow ? ", too slow" : ""}`;
  const faults = plugins.faults.counts.get(name) ?? 0;
  return `    ${printable(name)}: ${what}${cost}${faults === 0 ? "" : `, ${faults} faults so far`}`;
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

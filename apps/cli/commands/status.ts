import { isatty } from "node:tty";
import { type Input, print } from "../../../config/command.ts";
import { type FeatureText, featureTexts } from "../../../config/feature.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { counted, percent } from "../../../core/report/number-text.ts";
import { terminalColumns, wrappedLines } from "../../../core/report/text-width.ts";
import type { EndpointStatus } from "../../admin/endpoint-schema.ts";
import type { RewriteStatus } from "../../admin/rewrite-status.ts";
import type { Status } from "../../admin/status.ts";
import { isServingWell } from "../../admin/status-summary.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import { watch } from "../admin/watch.ts";
import { noWords } from "../frame/command.ts";
import { colouredState } from "../show/colour.ts";

import { badFirst, endpointLines } from "../show/endpoint-table.ts";
import type { ShownWorker } from "../start/workers/group-status.ts";

/** `signalbox status`: prints the state of a running router. Returns the exit code: 3 if something needs attention. */
export async function status(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const texts = featureTexts(registry);
  const mostRows = input.has("all") ? Number.POSITIVE_INFINITY : ROWS_SHOWN;
  if (input.has("watch"))
    return watch(input, (now, { columns }) =>
      input
        .asCalled(statusText(now, texts, columns, mostRows))
        .trimEnd()
        .split("\n"),
    );
  noWords(input, "status");
  const now = await askAdmin<Status>(input, "/status");
  const columns = terminalColumns(isatty(1));
  print(input, now, () => {
    const lines = wrappedLines(input.asCalled(statusText(now, texts, columns, mostRows)), columns).split("\n");
    return lines.map(colouredState).join("\n");
  });
  return now.isWell ? 0 : 3;
}

/** A pool with more replicas is shortened. */
const ROWS_SHOWN = 50;

/** The state as text: pool, warnings, a table of replicas that fits `columns`, rewrites and profile. */
export function statusText(
  now: Status,
  texts: readonly FeatureText[],
  columns = Number.POSITIVE_INFINITY,
  mostRows = Number.POSITIVE_INFINITY,
): string {
  const lines = [
    poolLine(now),
    ...configLines(now.config),
    ...now.config.overlay.map(overlayText),
    ...(now.isWell ? [] : [`${isServingWell(now.endpoints, now.traffic) ? " " : "!"} ${now.summary}`]),
    ...now.warnings.map((warning) => `! ${warning}`),
    "",
    ...poolLines(badFirst(now.endpoints), columns, mostRows),
    ...(now.rewrites.length > 0
      ? [
          "",
          "rewrites",
          ...now.rewrites.flatMap((rule) => [`  ${ruleText(rule, texts)}`, ...texts.flatMap((text) => text.rule?.(rule) ?? [])]),
        ]
      : []),
    "",
    profileText(now),
    ...texts.flatMap((text) => text.router?.(now) ?? []),
    ...workerLines(now),
  ];
  return `${lines.join("\n")}\n`;
}

/** Of a router that is several processes. */
function workerLines(now: object): readonly string[] {
  const { workers = [] } = now as { readonly workers?: readonly ShownWorker[] };
  if (workers.length === 0) return [];
  const serving = workers.filter(({ state }) => state === "serving").length;
  const restarts = workers.reduce((sum, each) => sum + each.restarts, 0);
  return [`workers: ${serving} of ${workers.length} serve${restarts === 0 ? "" : `, restarts: ${restarts}`}`];
}

/** The pool in one line. */
export function poolLine({ pool, endpoints, uptimeS, sources }: Status): string {
  const ready = endpoints.filter(({ isAvailable }) => isAvailable).length;
  return `Pool "${pool}": ${ready} of ${endpoints.length} replicas ready, up ${duration(uptimeS)}, config: ${sources.join(", ")}`;
}

/** The table of replicas; of a large pool the first rows, and how to see the others. */
function poolLines(endpoints: readonly EndpointStatus[], columns: number, mostRows: number): readonly string[] {
  const hidden = endpoints.slice(mostRows);
  const lines = endpointLines(endpoints.slice(0, mostRows), columns);
  if (hidden.length === 0) return lines;
  const out = hidden.filter(({ isAvailable }) => !isAvailable).length;
  const which = out === 0 ? "all in service" : `${out} of them not in service`;
  return [...lines, `… and ${counted(hidden.length, "more replica")}, ${which}: signalbox status --all shows them`];
}

/** The last attempt to change the config; the problems of a refused one are among the warnings. */
function configLines({ generation, lastReload }: Status["config"]): readonly string[] {
  if (lastReload === null) return [];
  const { at, cause, isApplied, changes } = lastReload;
  const what = !isApplied ? "refused" : changes.length === 0 ? "nothing was different" : changes.join("; ");
  return [`config generation ${generation}; last reload at ${at} by ${cause}: ${what}`];
}

function overlayText({ rewrite, isDeleted, by, reason, since, until }: Status["config"]["overlay"][number]): string {
  const end = until === null ? `until "signalbox revert rewrite ${rewrite}"` : `until ${until}`;
  return `rewrite ${rewrite} ${isDeleted ? "deleted" : "changed"} beside the files by ${by} at ${since}, ${end}${reason === "" ? "" : `: ${reason}`}`;
}

function ruleText({ name, models, targets }: RewriteStatus, texts: readonly FeatureText[]): string {
  const parts = targets.map((target) => {
    const marks = texts.map((text) => text.mark?.(target) ?? "").join("");
    return `${target.name} ${percent(target.share)} ${servingText(target)}${marks}`;
  });
  return `${models.join(", ") || "every model"} -> ${parts.join(", ")}  (${name})`;
}

function servingText({ readyEndpoints, onDemandEndpoints }: RewriteStatus["targets"][number]): string {
  if (readyEndpoints > 0) return `on ${readyEndpoints}`;
  return onDemandEndpoints === 0 ? "on no ready replica" : `on none yet, asked of ${onDemandEndpoints}`;
}

function profileText({ profile }: Status): string {
  const filters = profile.filters.map(({ name }) => name).join(", ");
  const scorers = profile.scorers.map(({ name, weight }) => `${name} x ${weight}`).join(", ");
  return `profile ${profile.name}: filters ${filters || "none"}; scorers ${scorers || "none"}; picker ${profile.picker.name}`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

import { isatty } from "node:tty";
import type { EndpointStatus, IntentStatus } from "../../admin/api/endpoint-schema.ts";
import type { RewriteStatus } from "../../admin/rewrite-status.ts";
import type { Status } from "../../admin/status.ts";
import { FEATURES } from "../../features/list.ts";
import { percent, whole } from "../../report/number-text.ts";
import { askAdmin } from "../admin/ask-admin.ts";
import { type Input, noWords, print } from "../frame/command.ts";
import { type Column, columnTable } from "../show/table.ts";
import { terminalColumns, wrappedLines } from "../show/text-width.ts";
import { watch } from "../show/watch.ts";

/** `signalbox status`: prints the state of a running router. Returns the exit code: 3 if something needs attention. */
export async function status(input: Input): Promise<number> {
  if (input.has("watch")) return watch(input, (now, { columns }) => statusText(now, columns).trimEnd().split("\n"));
  noWords(input, "status");
  const now = await askAdmin<Status>(input, "/status");
  const columns = terminalColumns(isatty(1));
  print(input, now, () => wrappedLines(statusText(now, columns), columns));
  return now.isWell ? 0 : 3;
}

const MODELS_SHOWN = 4;

const COLUMNS: readonly Column<EndpointStatus>[] = [
  ["replica", ({ name }) => name, "left"],
  ["phase", phaseText, "left"],
  ["in flight", ({ inFlight }) => String(inFlight)],
  ["prefill tokens", ({ prefillTokens }) => whole(prefillTokens)],
  ["waiting", ({ waiting }) => scraped(waiting)],
  ["running", ({ running }) => scraped(running)],
  ["KV cache", ({ kvUsage }) => (kvUsage === null ? "-" : percent(kvUsage))],
  ["connections", ({ connections }) => String(connections)],
  ["models", ({ models }) => modelsText(models), "left"],
];

/** The state as text: pool, warnings, a table of replicas that fits `columns`, rewrites and profile. */
export function statusText(now: Status, columns = Number.POSITIVE_INFINITY): string {
  const lines = [
    poolLine(now),
    ...configLines(now.config),
    ...now.config.overlay.map(overlayText),
    ...(now.isWell ? [] : [`! ${now.summary}`]),
    ...now.warnings.map((warning) => `! ${warning}`),
    "",
    ...endpointLines(now.endpoints, columns),
    ...(now.rewrites.length > 0
      ? ["", "rewrites", ...now.rewrites.flatMap((rule) => [`  ${ruleText(rule)}`, ...featureLines("rule", rule)])]
      : []),
    "",
    profileText(now),
    ...featureLines("router", now),
  ];
  return `${lines.join("\n")}\n`;
}

/** What the features say of a part of the status. */
function featureLines(part: "router" | "rule", shown: object): readonly string[] {
  return FEATURES.flatMap(({ text }) => text?.[part]?.(shown) ?? []);
}

/** The pool in one line. */
export function poolLine({ pool, endpoints, uptimeS, sources }: Status): string {
  const ready = endpoints.filter(({ isAvailable }) => isAvailable).length;
  return `Pool "${pool}": ${ready} of ${endpoints.length} replicas ready, up ${duration(uptimeS)}, config: ${sources.join(", ")}`;
}

/** A table with a line for each endpoint. */
export const endpointLines = (endpoints: readonly EndpointStatus[], columns = Number.POSITIVE_INFINITY) =>
  columnTable(COLUMNS, endpoints, columns);

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

/** Its phase, and what is behind it. */
export function phaseText({ phase, isAvailable, ejected, failure, intent }: EndpointStatus): string {
  if (intent !== null && (phase === "draining" || phase === "cordoned")) return `${phase} (${intentText(intent)})`;
  if (ejected !== "") return `${phase} (${ejected})`;
  return isAvailable || failure === "" ? phase : `${phase} (${failure})`;
}

/** For example "empty, until 2030-01-01T00:00:00.000Z: new driver". */
function intentText({ isEmpty, until, reason }: IntentStatus): string {
  const state = `${isEmpty ? "empty" : "in use"}${until === null ? "" : `, until ${until}`}`;
  return reason === "" ? state : `${state}: ${reason}`;
}

function modelsText(models: readonly string[]): string {
  const hidden = models.length - MODELS_SHOWN;
  return models.slice(0, MODELS_SHOWN).join(", ") + (hidden > 0 ? ` and ${hidden} more` : "");
}

function ruleText({ name, models, targets }: RewriteStatus): string {
  const parts = targets.map((target) => {
    const serving = target.readyEndpoints === 0 ? "on no ready replica" : `on ${target.readyEndpoints}`;
    const marks = FEATURES.map(({ text }) => text?.mark?.(target) ?? "").join("");
    return `${target.name} ${percent(target.share)} ${serving}${marks}`;
  });
  return `${models.join(", ") || "every model"} -> ${parts.join(", ")}  (${name})`;
}

function profileText({ profile }: Status): string {
  const filters = profile.filters.map(({ name }) => name).join(", ");
  const scorers = profile.scorers.map(({ name, weight }) => `${name} x ${weight}`).join(", ");
  return `profile ${profile.name}: filters ${filters || "none"}; scorers ${scorers || "none"}; picker ${profile.picker.name}`;
}

const scraped = (value: number | null) => (value === null ? "-" : whole(value));

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

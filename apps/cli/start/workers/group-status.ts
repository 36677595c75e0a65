import type { EndpointStatus } from "../../../admin/endpoint-schema.ts";
import type { Status } from "../../../admin/status.ts";
import { summaryOf } from "../../../admin/status-summary.ts";
import { joined, summed, weighted } from "./join-figures.ts";

/** What is shown of a worker. */
export interface ShownWorker {
  readonly worker: number;
  readonly pid: number | null;
  readonly state: string;
  readonly restarts: number;
  readonly lastEnd: string;
}

/**
 * The workers' documents of /status as one: of what each counts for itself the sum, of what all see the first worker's. Times to the first
 * token are means of the workers' by their requests. Parts of features are the first worker's.
 */
export function groupStatus(all: readonly Status[], workers: readonly ShownWorker[]): object {
  const [first] = all as [Status, ...Status[]];
  const traffic = { ...trafficOf(all.map((each) => each.traffic)), history: historyOf(all.map((each) => each.traffic.history)) };
  const endpoints = first.endpoints.map((endpoint) => endpointOf(endpoint, all));
  const warnings = [...new Set(all.flatMap((each) => each.warnings)), ...warningsOf(workers)];
  return {
    ...first,
    clientConnections: summed(all, "clientConnections"),
    acceptPauses: summed(all, "acceptPauses"),
    ...summaryOf(endpoints, traffic, warnings),
    warnings,
    traffic,
    endpoints,
    memory: joined(
      all.map(({ memory }) => memory),
      (one, other) => one + other,
    ),
    workers,
  };
}

const ONE_OUT = "does not serve: its connections have ended, and it is started again";

function warningsOf(workers: readonly ShownWorker[]): readonly string[] {
  const silent = workers.filter(({ state }) => state === "silent");
  const out = workers.filter(({ state }) => state !== "serving").length - silent.length;
  const names = silent.map(({ worker, pid }) => `${worker} (process ${pid})`).join(", ");
  return [
    ...(out > 0
      ? [
          `${out} of ${workers.length} workers ${out === 1 ? ONE_OUT : "do not serve: their connections have ended, and they are started again"}`,
        ]
      : []),
    ...(silent.length > 0
      ? [
          silent.length === 1
            ? `worker ${names} does not answer: its connections wait, and its figures are not shown here`
            : `workers ${names} do not answer: their connections wait, and their figures are not shown here`,
        ]
      : []),
  ];
}

function endpointOf(endpoint: EndpointStatus, all: readonly Status[]): EndpointStatus {
  const same = all.flatMap(({ endpoints }) => endpoints.find(({ name }) => name === endpoint.name) ?? []);
  return {
    ...endpoint,
    // Each worker counts what the others have in flight, a moment later.
    inFlight: Math.max(...same.map(({ inFlight }) => inFlight)),
    prefillTokens: Math.max(...same.map(({ prefillTokens }) => prefillTokens)),
    connections: summed(same, "connections"),
    figures: trafficOf(same.map(({ figures }) => figures)),
  };
}

type Traffic = EndpointStatus["figures"] | Status["traffic"];

/** What requests met at all workers. */
function trafficOf<Figures extends Traffic>(all: readonly Figures[]): Figures {
  const counts = joined(all, (one, other) => one + other);
  const mean = (key: "ttftP50Ms" | "ttftP95Ms" | "hitRate" | "streamTokensPerS") =>
    weighted(
      all.map((each) => each[key]),
      all.map(({ requests }) => requests),
    );
  return {
    ...counts,
    windowS: Math.max(...all.map(({ windowS }) => windowS)),
    ttftP50Ms: mean("ttftP50Ms"),
    ttftP95Ms: mean("ttftP95Ms"),
    hitRate: mean("hitRate"),
    streamTokensPerS: mean("streamTokensPerS"),
    isFailing: all.some(({ isFailing }) => isFailing),
  };
}

type History = Status["traffic"]["history"];

/** What requests met in each step of the last minutes or hours. Arrays end with the same step. */
export function historyOf(all: readonly History[]): History {
  const length = Math.max(...all.map(({ requestsPerS }) => requestsPerS.length));
  const at = <Value>(values: readonly Value[], step: number): Value | undefined => values[values.length - length + step];
  const steps = Array.from({ length }, (_, step) => step);
  const rate = (key: "requestsPerS" | "errorsPerS" | "clientErrorsPerS") =>
    steps.map((step) => all.reduce((sum, each) => sum + (at(each[key], step) ?? 0), 0));
  const mean = (key: "ttftP50Ms" | "ttftP95Ms" | "hitRate") =>
    steps.map((step) =>
      weighted(
        all.map((each) => at(each[key], step) ?? null),
        all.map((each) => at(each.requestsPerS, step) ?? 0),
      ),
    );
  return {
    stepS: all[0]?.stepS ?? 0,
    requestsPerS: rate("requestsPerS"),
    errorsPerS: rate("errorsPerS"),
    clientErrorsPerS: rate("clientErrorsPerS"),
    ttftP50Ms: mean("ttftP50Ms"),
    ttftP95Ms: mean("ttftP95Ms"),
    hitRate: mean("hitRate"),
    leastServing: steps.map((step) => Math.min(...all.flatMap((each) => at(each.leastServing, step) ?? []))),
  };
}

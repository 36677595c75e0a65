import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { z } from "../contract/options.ts";
import type { Outcome } from "../contract/outcome.ts";
import { blameOf, verdictOf, wasMalformed } from "../report/blame.ts";
import { type TrafficHistory, TrafficSeries } from "./traffic-series.ts";
import { AT, type Figures, figures, WindowFigures } from "./window-figures.ts";

/** What requests met at one endpoint in the last minutes. */
export const endpointFigures = figures.extend({
  replicaErrors: z.number().describe("Tries that ended with 5xx (but 503), without a response or with a broken one."),
  overloads: z.number().describe("Tries that were refused with 503 or 429."),
});

export type EndpointFigures = z.infer<typeof endpointFigures>;

/** What the requests of all APIs met in the last minutes. Each failed request counts once, by who caused it. */
export interface PoolFigures extends Figures {
  /** The router had no replica for the request, or failed itself. */
  readonly routerErrors: number;
  /** The replicas gave 5xx, 429, no response or a broken one. */
  readonly replicaErrors: number;
  readonly history: TrafficHistory;
}

/** Counts how requests end, for the pool and for each of its endpoints, by name. It outlives reloads. */
export class RequestFigures {
  readonly #clock: Pick<Clock, "now">;
  readonly #pool: WindowFigures;
  readonly #series: TrafficSeries;
  #rows: ReadonlyMap<string, WindowFigures> = new Map();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#pool = new WindowFigures(clock.now());
    this.#series = new TrafficSeries(clock.now());
  }

  /** Takes the pool's list: figures of endpoints that are not on it are forgotten. */
  follow(endpoints: readonly Endpoint[]): void {
    const rows = new Map<string, WindowFigures>();
    for (const { name } of endpoints) rows.set(name, this.#rows.get(name) ?? new WindowFigures(this.#clock.now()));
    this.#rows = rows;
  }

  /** A request has ended. Those that no API serves, such as health probes, are not counted. */
  ended(outcome: Outcome, nowMs: number): void {
    if (outcome.api === "") return;
    const blame = blameOf(outcome);
    const isOurs = blame === "router" || blame === "replica";
    const isClients = blame === "client";
    this.#series.ended(isOurs, isClients, nowMs);
    if (isOurs) this.#pool.add(blame === "router" ? AT.routerErrors : AT.replicaErrors, 1, nowMs);
    countRequest(this.#pool, outcome, isClients, nowMs);
    let last: WindowFigures | undefined;
    for (const { endpoint, result } of outcome.attempts) {
      last = this.#rows.get(endpoint);
      const verdict = verdictOf(result);
      if (verdict !== "fine") last?.add(verdict === "failed" ? AT.replicaErrors : AT.overloads, 1, nowMs);
    }
    if (last !== undefined) countRequest(last, outcome, isClients, nowMs);
  }

  of({ name }: Pick<Endpoint, "name">): EndpointFigures {
    const nowMs = this.#clock.now();
    const row = this.#rows.get(name) ?? new WindowFigures(nowMs);
    const [replicaErrors, overloads] = [row.total(AT.replicaErrors, nowMs), row.total(AT.overloads, nowMs)];
    return { ...row.shown(nowMs), replicaErrors, overloads };
  }

  get pool(): PoolFigures {
    const nowMs = this.#clock.now();
    const routerErrors = this.#pool.total(AT.routerErrors, nowMs);
    const replicaErrors = this.#pool.total(AT.replicaErrors, nowMs);
    return { ...this.#pool.shown(nowMs), routerErrors, replicaErrors, history: this.#series.shown(nowMs) };
  }
}

function countRequest(row: WindowFigures, outcome: Outcome, isClients: boolean, nowMs: number): void {
  const { attempts, ending, status, firstByteMs, outputTokens, times, request, usage } = outcome;
  row.add(AT.requests, 1, nowMs);
  if (isClients) row.add(AT.clientErrors, 1, nowMs);
  if (ending === "client-left") row.add(AT.clientsLeft, 1, nowMs);
  // The first byte of an error is no token, whatever its status, and that of a response that is not streamed is the whole generation.
  if (status < 400 && request?.isStream === true && !wasMalformed(attempts)) row.time(firstByteMs, nowMs);
  row.add(AT.outputTokens, outputTokens, nowMs);
  // The first token needs none of that time.
  if (request?.isStream === true && outputTokens > 1 && times.endMs > times.firstByteMs) {
    row.add(AT.streamTokens, outputTokens - 1, nowMs);
    row.add(AT.streamMs, times.endMs - times.firstByteMs, nowMs);
  }
  const cachedTokens = usage?.cachedTokens;
  if (usage === undefined || cachedTokens === undefined || Number.isNaN(usage.promptTokens)) return;
  row.add(AT.promptTokens, usage.promptTokens, nowMs);
  row.add(AT.cachedTokens, Math.min(cachedTokens, usage.promptTokens), nowMs);
}

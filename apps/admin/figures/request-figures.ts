import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { z } from "../../../core/contract/options.ts";
import type { Attempt, Outcome } from "../../../core/contract/outcome.ts";
import type { RequestCounter } from "../../../core/pool/pool.ts";
import { blameOf, verdictOf, wasServed } from "../../../core/report/blame.ts";
import { cachedTokensOf } from "../../../core/report/cached-tokens.ts";
import { AT, type Counter, countTime } from "./counts.ts";
import { TrafficHistories, type TrafficHistory } from "./traffic-history.ts";
import { type Figures, figures, WindowFigures } from "./window-figures.ts";

/** A smaller share of failures is usual where replicas come and go. */
const USUAL_FAILURES = 0.01;

const FAILING =
  "More than 1 % of the requests of the last minutes failed, and it is not over: the last minute was not free of failures, or without requests.";

/** What requests met at one endpoint in the last minutes. */
export const endpointFigures = figures.extend({
  replicaErrors: z.number().describe("Tries that ended with 5xx (but 503), without a response or with a broken one."),
  overloads: z.number().describe("Tries that were refused with 503 or 429."),
  isFailing: z.boolean().describe(FAILING),
});

export type EndpointFigures = z.infer<typeof endpointFigures>;

/** What the requests of all APIs met in the last minutes. Each failed request counts once, by who caused it. */
export interface PoolFigures extends Figures {
  /** The router had no replica for the request, or failed itself. */
  readonly routerErrors: number;
  /** The replicas gave 5xx, 429, no response or a broken one. */
  readonly replicaErrors: number;
  /** More of them failed than is usual, and it is not over. */
  readonly isFailing: boolean;
  /** Of the last ten minutes. */
  readonly history: TrafficHistory;
}

/** Counts how requests end, for the pool and for each of its endpoints, by name. It outlives reloads. */
export class RequestFigures implements RequestCounter {
  readonly #clock: Clock;
  readonly #pool: WindowFigures;
  /** The same counts over longer times. */
  readonly histories: TrafficHistories;
  readonly #poolCounters: readonly Counter[];
  #rows: ReadonlyMap<string, WindowFigures> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#pool = new WindowFigures(clock.now());
    this.histories = new TrafficHistories(clock.now());
    this.#poolCounters = [this.#pool, this.histories];
  }

  /** Takes the pool's list: figures of endpoints that are not on it are forgotten. */
  follow(endpoints: readonly Endpoint[]): void {
    const rows = new Map<string, WindowFigures>();
    for (const { name } of endpoints) rows.set(name, this.#rows.get(name) ?? new WindowFigures(this.#clock.now()));
    this.#rows = rows;
    this.histories.serving(endpoints.filter(({ isAvailable }) => isAvailable).length, this.#clock.now());
  }

  /** A request has ended. Those that no API serves, such as health probes, are not counted. */
  ended(outcome: Outcome, nowMs: number): void {
    if (outcome.api === "") return;
    const blame = blameOf(outcome);
    const isOurs = blame === "router" || blame === "replica";
    const isClients = blame === "client";
    for (const counter of this.#poolCounters) {
      if (isOurs) counter.add(blame === "router" ? AT.routerErrors : AT.replicaErrors, 1, nowMs);
      countRequest(counter, outcome, isClients, nowMs);
    }
    // Its tokens are those of the answer's endpoint.
    if (outcome.prefill !== undefined) this.#countTries(outcome.prefill.attempts, nowMs)?.add(AT.requests, 1, nowMs);
    const last = this.#countTries(outcome.attempts, nowMs);
    if (last !== undefined) countRequest(last, outcome, isClients, nowMs);
  }

  /** Whether its tries were all at endpoints of this pool. */
  hasAll({ attempts }: Outcome): boolean {
    for (const { endpoint } of attempts) if (!this.#rows.has(endpoint)) return false;
    return true;
  }

  /** A request has ended in another pool: its tries that were here count for their endpoints. */
  endedElsewhere({ attempts }: Outcome, nowMs: number): void {
    this.#countTries(attempts, nowMs);
  }

  /** Returns the row of the last one's endpoint. */
  #countTries(attempts: readonly Attempt[], nowMs: number): WindowFigures | undefined {
    let last: WindowFigures | undefined;
    for (const { endpoint, result } of attempts) {
      last = this.#rows.get(endpoint);
      const verdict = verdictOf(result);
      if (verdict !== "fine") last?.add(verdict === "failed" ? AT.replicaErrors : AT.overloads, 1, nowMs);
    }
    return last;
  }

  of({ name }: Endpoint): EndpointFigures {
    const nowMs = this.#clock.now();
    const row = this.#rows.get(name) ?? new WindowFigures(nowMs);
    const [replicaErrors, overloads] = [row.total(AT.replicaErrors, nowMs), row.total(AT.overloads, nowMs)];
    return { ...row.shown(nowMs), replicaErrors, overloads, isFailing: isFailing(row, [AT.replicaErrors], nowMs) };
  }

  get pool(): PoolFigures {
    const nowMs = this.#clock.now();
    const routerErrors = this.#pool.total(AT.routerErrors, nowMs);
    const replicaErrors = this.#pool.total(AT.replicaErrors, nowMs);
    const isPoolFailing = isFailing(this.#pool, [AT.routerErrors, AT.replicaErrors], nowMs);
    const history = this.histories.shown("10m", nowMs);
    return { ...this.#pool.shown(nowMs), routerErrors, replicaErrors, isFailing: isPoolFailing, history };
  }
}

/**
 * The one rule by which failures are an alarm: a share of the requests, and a time. What was mended is no alarm as soon as a minute of
 * requests passed without a failure; without new requests nobody knows.
 */
function isFailing(row: WindowFigures, failures: readonly number[], nowMs: number): boolean {
  const failed = failures.reduce((sum, place) => sum + row.total(place, nowMs), 0);
  if (failed <= USUAL_FAILURES * row.total(AT.requests, nowMs)) return false;
  return failures.some((place) => row.lately(place, nowMs) > 0) || row.lately(AT.requests, nowMs) === 0;
}

function countRequest(row: Counter, outcome: Outcome, isClients: boolean, nowMs: number): void {
  const { ending, firstByteMs, outputTokens, times, request, usage } = outcome;
  row.add(AT.requests, 1, nowMs);
  if (isClients) row.add(AT.clientErrors, 1, nowMs);
  if (ending === "client-left") row.add(AT.clientsLeft, 1, nowMs);
  // The first byte of an error is no token, whatever its status, and that of a response that is not streamed is the whole generation.
  if (request?.isStream === true && wasServed(outcome)) countTime(row, firstByteMs, nowMs);
  row.add(AT.outputTokens, outputTokens, nowMs);
  // The first token needs none of that time.
  if (request?.isStream === true && outputTokens > 1 && times.endMs > times.firstByteMs) {
    row.add(AT.streamTokens, outputTokens - 1, nowMs);
    row.add(AT.streamMs, times.endMs - times.firstByteMs, nowMs);
  }
  const cachedTokens = cachedTokensOf(outcome);
  if (usage === undefined || cachedTokens === undefined || Number.isNaN(usage.promptTokens)) return;
  row.add(AT.promptTokens, usage.promptTokens, nowMs);
  row.add(AT.cachedTokens, Math.min(cachedTokens, usage.promptTokens), nowMs);
}

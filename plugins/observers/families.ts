import { Histogram } from "../../core/contract/histogram.ts";
import { histogramText, SHORT_SECONDS } from "./buckets.ts";
import { CountTable, rowCounter, rowsText } from "./count-table.ts";
import { attemptsText, ENDPOINT_COUNTS, expectationsText } from "./endpoint-counts.ts";
import { single } from "./exposition.ts";
import { bytesText, finishText, firstBytesText, trafficText } from "./traffic-families.ts";
import { TrafficTable } from "./traffic-table.ts";

export type Families = ReturnType<typeof makeFamilies>;

/**
 * What is counted of requests that have ended. All label values come from the config, the replicas or the router itself, so clients
 * can't create series.
 */
export function makeFamilies(maxSeries: number, maxTraffic: number) {
  const retries = new CountTable(["reason"], 1, maxSeries);
  for (const reason of RETRIED) retries.counts(reason);
  return {
    traffic: new TrafficTable(maxTraffic),
    endpoints: new CountTable(["endpoint"], ENDPOINT_COUNTS, maxSeries),
    errors: new CountTable(["code"], 1, maxSeries),
    retries,
    rewrites: new CountTable(["rule", "target"], 1, maxSeries),
    clientsLeft: 0,
    broken: 0,
    /** Whether the tokens of single requests are counted in buckets too. */
    hasSizes: false,
    admissions: new Histogram(SHORT_SECONDS),
    decisions: new Histogram(SHORT_SECONDS),
    overheads: new Histogram(SHORT_SECONDS),
    loopDelays: new Histogram(SHORT_SECONDS),
  };
}

/** What may be tried again. The counts begin at 0, so that the first retry is an increase. */
const RETRIED = ["connect-failed", "connect-timeout", "stale", "wedged", "saturated", "removed", "4xx", "5xx"];

/** Takes the limits of another config; series that there are stay. */
export function setLimits(families: Families, maxSeries: number, maxTraffic: number): void {
  families.traffic.maxRows = maxTraffic;
  for (const table of Object.values(families)) if (table instanceof CountTable) table.maxRows = maxSeries;
}

/** Names that are gone give their room to others, once half of it is used. */
export function makeRoom(families: Families, targets: ReadonlySet<string>, endpoints: ReadonlySet<string>): void {
  families.traffic.makeRoom(targets, endpoints);
  families.endpoints.makeRoom("endpoint", endpoints);
  families.rewrites.makeRoom("target", targets);
}

const ERRORS = rowCounter("request_errors", "Requests that the router ended with an error of its own.", 0);
const RETRIES = { ...rowCounter("retries", "Further tries of a request, by what ended the try before.", 0), hasZeros: true };
const REWRITES = rowCounter("rewrite", "Requests whose model name a rewrite rule turned into a target.", 0);
const LEFT_HELP = "Requests whose client left before the response was complete.";
const BROKEN_HELP = "Responses that broke off after their head was sent.";
const OVERHEAD_HELP = "Seconds that the router took itself, from the last byte of a request until it was sent on.";
const LOOP_HELP = "Seconds that a timer of the process was late, sampled ten times a second.";

/** The page's part about them. */
export function familiesText(families: Families): string {
  const rows = families.traffic.all();
  const endpoints = families.endpoints.all();
  return (
    trafficText(rows) +
    rowsText(ERRORS, families.errors.all()) +
    attemptsText(endpoints) +
    rowsText(RETRIES, families.retries.all()) +
    rowsText(REWRITES, families.rewrites.all()) +
    finishText(rows) +
    single("signalbox_client_left_total", "counter", LEFT_HELP, families.clientsLeft) +
    single("signalbox_stream_broken_total", "counter", BROKEN_HELP, families.broken) +
    bytesText(rows) +
    expectationsText(endpoints) +
    firstBytesText(rows) +
    histogramText("signalbox_admission_wait_seconds", "Seconds that requests waited to be admitted.", families.admissions) +
    histogramText("signalbox_decision_seconds", "Seconds that the decision for an endpoint took.", families.decisions) +
    histogramText("signalbox_overhead_seconds", OVERHEAD_HELP, families.overheads) +
    histogramText("signalbox_event_loop_delay_seconds", LOOP_HELP, families.loopDelays)
  );
}

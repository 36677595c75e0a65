import { quantile } from "../../lab/simulate/metrics.ts";
import type { Trace, TraceRequest } from "../../lab/simulate/trace.ts";
import type { Ended } from "./send.ts";

/** More names than any pool has: what responses say must not fill the memory. */
const MOST_NAMES = 2_000;

/** Counts how the requests of a replay fare. */
export class Tally {
  readonly #statuses = new Map<string, number>();
  readonly #endpoints = new Map<string, { recorded: number; now: number }>();
  readonly #firstMs: Float64Array;
  readonly #lateMs: Float64Array;
  readonly #thenMs: number[] = [];
  #first = 0;
  #sent = 0;
  #ended = 0;
  #good = 0;
  #placed = 0;
  #same = 0;

  constructor({ requests }: Trace) {
    this.#firstMs = new Float64Array(requests.length);
    this.#lateMs = new Float64Array(requests.length);
  }

  sent(lateMs: number): void {
    this.#lateMs[this.#sent++] = Math.max(0, lateMs);
  }

  firstByte(ms: number): void {
    this.#firstMs[this.#first++] = ms;
  }

  ended({ served }: TraceRequest, { status, failure, endpoint }: Ended): void {
    this.#ended += 1;
    const isGood = failure === "" && status !== undefined && status >= 200 && status < 300;
    if (isGood) this.#good += 1;
    const name = status === undefined ? `no response (${failure})` : failure === "" ? String(status) : `${status}, ${failure}`;
    add(
      this.#statuses,
      name,
      () => 0,
      (count) => count + 1,
    );
    if (!isGood || served === undefined) return;
    if (served.firstByteMs !== undefined) this.#thenMs.push(served.firstByteMs);
    if (served.endpoint === "" || endpoint === "") return;
    this.#placed += 1;
    if (served.endpoint === endpoint) this.#same += 1;
    this.#count(served.endpoint, "recorded");
    this.#count(endpoint, "now");
  }

  #count(name: string, when: "recorded" | "now"): void {
    add(
      this.#endpoints,
      name,
      () => ({ recorded: 0, now: 0 }),
      (counts) => ({ ...counts, [when]: counts[when] + 1 }),
    );
  }

  get report() {
    return {
      sent: this.#sent,
      ended: this.#ended,
      good: this.#good,
      statuses: Object.fromEntries([...this.#statuses].sort(([a], [b]) => a.localeCompare(b))),
      firstByteMs: spread(this.#firstMs.subarray(0, this.#first)),
      /** Of the same requests, as they were recorded; null where the trace does not say. */
      recordedFirstByteMs: spread(Float64Array.from(this.#thenMs)),
      /** Behind the time of the trace. */
      lateMsP99: this.#sent === 0 ? 0 : quantile(this.#lateMs.slice(0, this.#sent).sort(), 0.99),
      /** Of those that are known to have gone somewhere then and now: how many went to the same endpoint. */
      placed: this.#placed,
      samePlace: this.#same,
      endpoints: Object.fromEntries([...this.#endpoints].sort(([a], [b]) => a.localeCompare(b))),
    };
  }
}

export type Report = Tally["report"];

function add<Value>(map: Map<string, Value>, name: string, first: () => Value, next: (value: Value) => Value): void {
  const key = map.has(name) || map.size < MOST_NAMES ? name : "others";
  map.set(key, next(map.get(key) ?? first()));
}

function spread(values: Float64Array) {
  if (values.length === 0) return null;
  const sorted = values.slice().sort();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, p50: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), p99: quantile(sorted, 0.99) };
}

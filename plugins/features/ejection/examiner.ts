import type { Named } from "../../../core/active-config.ts";
import type { Detector, EndpointRecord } from "../../../core/contract/detector.ts";
import { type Endpoint, isServing } from "../../../core/contract/endpoint.ts";
import type { Log } from "../../../core/contract/log.ts";
import { type Detected, detect, isUnremarkable } from "./detect.ts";
import type { Row } from "./ejector-row.ts";
import { servesAlone } from "./needed-rows.ts";
import { cutStuck, forgetGivenUp, isDoubted, type StuckRequestsOptions } from "./stuck-requests.ts";

export interface ExaminerOptions extends StuckRequestsOptions {
  readonly log: Log;
  readonly detectors: () => readonly Named<Detector>[];
  /** How long the prompts that were sent to the endpoint take by its measured speed, in milliseconds. */
  readonly workAheadMs: (endpoint: Endpoint, nowMs: number) => number;
}

/** Asks the detectors, and judges silence at every endpoint where a request is under way, also at those that the pool has no more. */
export class Examiner {
  readonly #options: ExaminerOptions;
  /** Those that have left the pool, until their last request has ended. */
  #left: readonly Row[] = [];

  constructor(options: ExaminerOptions) {
    this.#options = options;
  }

  /** These rows are no endpoints of the pool any more. */
  follow(gone: readonly Row[]): void {
    for (const row of gone) row.hasLeft = true;
    this.#left = [...this.#left, ...gone].filter((row) => this.#isBusy(row));
  }

  /** Notes when the endpoints of the pool, and those that have left it, last sent a token. */
  listen(rows: Iterable<Row>): void {
    this.#left = this.#left.filter((row) => this.#isBusy(row));
    for (const row of rows) this.#heard(row);
    for (const row of this.#left) this.#heard(row);
  }

  recordOf(row: Row, nowMs: number): EndpointRecord {
    const { records, workAheadMs } = this.#options;
    return records.of(row.endpoint, workAheadMs(row.endpoint, nowMs), nowMs, isDoubted(row));
  }

  /** What the detectors say of it. */
  found(record: EndpointRecord, others: readonly EndpointRecord[]): Detected | undefined {
    return detect(this.#options.detectors(), record, others, this.#options.log);
  }

  /** Whether what `retract` takes back was all that the detectors have against it. */
  isCleared(row: Row, healthy: ReadonlyMap<Row, EndpointRecord>, retract: () => void, nowMs: number): boolean {
    const others = [...healthy].flatMap(([other, record]) => (other === row ? [] : [record]));
    const before = this.found(this.recordOf(row, nowMs), others);
    retract();
    return before !== undefined && !before.isStuck && this.found(this.recordOf(row, nowMs), others) === undefined;
  }

  /** Looks at those of these, and of those that have left, that are not up, so that nobody else examines them. */
  sweep(rows: Iterable<Row>, healthy: ReadonlyMap<Row, EndpointRecord>, nowMs: number): void {
    for (const row of rows) if (!healthy.has(row) && this.#isBusy(row)) this.#look(row, healthy, nowMs);
    for (const row of this.#left) this.#look(row, healthy, nowMs);
  }

  /** It makes no progress. `healthy`: the endpoints that are up. */
  cut(row: Row, record: EndpointRecord, healthy: ReadonlyMap<Row, EndpointRecord>, nowMs: number): void {
    const others = [...healthy.keys()].filter((other) => other !== row);
    // Where no new request goes, there is nobody whom another endpoint can't serve.
    const isOnly = !row.hasLeft && isServing(row.endpoint) && servesAlone(row, others, this.#options.mayAnswer);
    cutStuck(row, record, isOnly, this.#options, nowMs);
  }

  #look(row: Row, healthy: ReadonlyMap<Row, EndpointRecord>, nowMs: number): void {
    const record = this.recordOf(row, nowMs);
    if (isUnremarkable(record) || this.found(record, [...healthy.values()])?.isStuck !== true) return;
    this.cut(row, record, healthy, nowMs);
  }

  #heard(row: Row): void {
    const heardMs = this.#options.tries.lastByteMs(row.endpoint);
    this.#options.records.heard(row.endpoint, heardMs);
    if (heardMs > row.givenUpMs) forgetGivenUp(row);
  }

  #isBusy({ endpoint }: Row): boolean {
    return this.#options.records.isBusy(endpoint);
  }
}

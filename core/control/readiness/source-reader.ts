import type { Clock } from "../../contract/clock.ts";
import type { Replica } from "../../contract/endpoint.ts";
import type { Random } from "../../contract/profile-plugin.ts";
import type { LoadTable } from "../../state/load.ts";
import type { GetFailure } from "../../wire/get-error.ts";
import { Loop } from "./loop.ts";
import { jittered } from "./schedule.ts";
import type { SourceFacts, SourceGroup } from "./source-facts.ts";

export interface SourceReaderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly load: LoadTable;
  readonly slot: number;
  /** Asked for at each step, since the config may change it. */
  readonly group: () => SourceGroup;
  readonly facts: SourceFacts;
  readonly target: () => Replica;
  /** Fetches the group's path; never rejects. `cause` says more than the failure. */
  readonly ask: () => Promise<{
    readonly failure: GetFailure | `status ${number}` | undefined;
    readonly body: string;
    readonly cause?: string;
  }>;
  /** A body was read. */
  readonly told: () => void;
  /** What could be read can't be read any more, or another server can't be read, for this reason; called once for each such time. */
  readonly unreadable: (cause: string) => void;
}

/** A path that the replica does not have, or with which nothing can be done, is fetched once in so many idle periods. */
const RARELY = 12;
const NO_SUCH_PATH = /^status (4\d\d|501)$/;

/**
 * Reads one group of sources while its replica is in service: once in each period while the replica has requests in flight and
 * once more after the last of them, otherwise once in each idle period, and rarely where the replica does not have the path.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #ticks: Loop;
  #isOn = false;
  #isAsking = false;
  #wasBusy = false;
  /** The replica does not have the path, or the sources can't read its body, and never could since it came into service. */
  #isMissing = false;
  #wasRead = false;
  /** What could be read can't be read any more, or it should be at another server and can't be. */
  isUnreadable = false;
  #idleDueAtMs = 0;

  constructor(options: SourceReaderOptions) {
    this.#options = options;
    this.#ticks = new Loop(options.clock, () => Promise.resolve(this.#tick()));
  }

  /** The replica came into service: fetches at once. */
  start(): void {
    this.#isOn = true;
    this.#isMissing = false;
    this.#wasRead = false;
    this.#idleDueAtMs = this.#options.clock.now();
    this.#ticks.next(0);
  }

  /** Reads in `ms` if the group gives the list of models. */
  checkModels(ms: number): void {
    const { clock, facts, group } = this.#options;
    if (!this.#isOn || !facts.listsModels(group())) return;
    this.#idleDueAtMs = clock.now();
    this.#ticks.within(ms);
  }

  stop(): void {
    this.#isOn = false;
    this.#ticks.stop();
  }

  /** Does not wait for a fetch: while it hangs, the last numbers must lose freshness. */
  #tick(): number {
    const { clock, facts } = this.#options;
    const nowMs = clock.now();
    if (this.#isDue(nowMs)) void this.#read(nowMs);
    facts.age(nowMs);
    return jittered(this.#options.group().periodMs, this.#options.random());
  }

  #isDue(nowMs: number): boolean {
    const { facts, load, slot } = this.#options;
    const group = this.#options.group();
    const isBusy = load.inFlight[slot]! > 0;
    const wasBusy = this.#wasBusy;
    this.#wasBusy = isBusy;
    if (this.#isAsking) return false;
    // A fetch that succeeded before fails now, so the numbers lose freshness: only fetching again soon can stop that.
    const isUrgent = !this.#isMissing && (isBusy || wasBusy || facts.isFading(group));
    // Half a period early is early enough, because ticks are jittered too.
    return isUrgent || nowMs + group.periodMs / 2 >= this.#idleDueAtMs;
  }

  async #read(askedAtMs: number): Promise<void> {
    const { clock, facts, random } = this.#options;
    facts.awaited(this.#options.group(), askedAtMs);
    this.#isAsking = true;
    const { failure, body, cause } = await this.#options.ask();
    this.#isAsking = false;
    if (!this.#isOn) return;
    const group = this.#options.group();
    const fault = failure === undefined ? facts.read(group, body, this.#options.target(), clock.now()) : failure;
    this.#wasRead ||= fault === "";
    this.#isMissing = !this.#wasRead && (failure === undefined || NO_SUCH_PATH.test(failure)) && !facts.hasNumbers(group);
    // Of the replica itself the probes tell what is wrong.
    const isOther = group.origin !== undefined;
    if (isOther || failure === undefined || failure === "too-large") this.#tellReadable(cause ?? fault, isOther || this.#wasRead);
    this.#idleDueAtMs = askedAtMs + jittered(group.idlePeriodMs * (this.#isMissing ? RARELY : 1), random());
    if (failure === undefined) this.#options.told();
  }

  /** `isExpected`: a replica that never had numbers of its own is no fault, because it may have none. */
  #tellReadable(fault: string, isExpected: boolean): void {
    const isUnreadable = fault !== "" && isExpected;
    if (isUnreadable && !this.isUnreadable) this.#options.unreadable(fault);
    this.isUnreadable = isUnreadable;
  }
}

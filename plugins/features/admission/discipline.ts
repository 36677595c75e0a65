import type { Named } from "../../../core/active-config.ts";
import type { Admission, Demand, Room, Waiting } from "../../../core/contract/admission.ts";
import type { FaultReporter } from "../../../core/plugin-watch/plugin-faults.ts";
import { faultText } from "../../../core/plugin-watch/plugin-faults.ts";
import { firstCome } from "./first-come.ts";
import type { PoolRoom } from "./pool-room.ts";

/**
 * The config's plugin, which puts requests in order. If it breaks its contract, requests go in the order in which they came until the
 * config changes, and none is lost.
 */
export class Discipline {
  readonly #named: Named<Admission>;
  readonly #faults: FaultReporter;
  /** All that wait, in the order in which they came. */
  readonly #all: ReadonlySet<Waiting>;
  #plugin: Admission;

  constructor(named: Named<Admission>, all: ReadonlySet<Waiting>, faults: FaultReporter) {
    this.#named = named;
    this.#plugin = named.plugin;
    this.#faults = faults;
    this.#all = all;
    for (const request of all) this.join(request);
  }

  join(request: Waiting): void {
    this.#run((plugin) => plugin.join(request));
  }

  leave(request: Waiting): void {
    this.#run((plugin) => plugin.leave(request));
  }

  /** Whether nobody's room is kept for others. */
  get hasNoCeilings(): boolean {
    return this.#plugin.ceiling === undefined;
  }

  spent(request: Demand, tokens: number): void {
    this.#run((plugin) => plugin.spent?.(request, tokens));
  }

  /** Whether no room is kept for others from requests of this priority. */
  isTop(priority: number): boolean {
    return this.hasNoCeilings || this.#ceiling(priority, 0) >= 1;
  }

  isOpen(priority: number, room: PoolRoom, nowMs: number): boolean {
    if (this.isTop(priority)) return true;
    const saturation = room.saturation(nowMs);
    return saturation < this.#ceiling(priority, saturation);
  }

  take(room: Room): Waiting | undefined {
    const taken = this.#run((plugin) => plugin.take(room));
    if (taken === undefined || (this.#all.has(taken) && room.isFor(taken))) return taken;
    this.#failed("It took a request that does not wait, or that there is no room for");
    return undefined;
  }

  /** Anything but a request that waits stands for the newcomer. */
  least(newcomer: Waiting): Waiting {
    const least = this.#run((plugin) => plugin.least(newcomer));
    return least !== undefined && this.#all.has(least) ? least : newcomer;
  }

  /** Anything but a number stands for no ceiling. */
  #ceiling(priority: number, saturation: number): number {
    const ceiling = this.#run((plugin) => plugin.ceiling?.(priority, saturation));
    return typeof ceiling === "number" && ceiling <= 1 ? ceiling : 1;
  }

  #run<Result>(call: (plugin: Admission) => Result): Result | undefined {
    try {
      return call(this.#plugin);
    } catch (thrown) {
      this.#failed(faultText(thrown, this.#named.file));
      return undefined;
    }
  }

  #failed(text: string): void {
    this.#faults.report(this.#named.name, text);
    this.#plugin = firstCome();
    for (const request of this.#all) this.#plugin.join(request);
  }
}

import type { Named } from "../../active-config.ts";
import type { Admission, Room, Waiting } from "../../contract/admission.ts";
import type { PluginFaults } from "../../plugin-watch/plugin-faults.ts";
import { faultText } from "../../plugin-watch/plugin-faults.ts";
import { firstCome } from "./first-come.ts";

/**
 * The config's plugin, which puts requests in order. When it breaks its contract, the order is that in which they came, until the
 * config changes: nobody is lost with it.
 */
export class Discipline {
  readonly #named: Named<Admission>;
  readonly #faults: Pick<PluginFaults, "report">;
  /** All that wait, in the order in which they came. */
  readonly #all: ReadonlySet<Waiting>;
  #plugin: Admission;

  constructor(named: Named<Admission>, all: ReadonlySet<Waiting>, faults: Pick<PluginFaults, "report">) {
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

  /** Whether no pool is too full for anybody. */
  get isAlwaysOpen(): boolean {
    return this.#plugin.isOpen === undefined;
  }

  spent(request: Pick<Waiting, "model" | "tenant" | "priority" | "tokens">, tokens: number): void {
    this.#run((plugin) => plugin.spent?.(request, tokens));
  }

  isOpen(priority: number, saturation: number): boolean {
    return this.#run((plugin) => plugin.isOpen?.(priority, saturation)) !== false;
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

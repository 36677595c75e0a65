import type { ActiveConfig } from "../active-config.ts";
import type { PluginSet } from "./plugin-set.ts";

/** A set that was published, and how many requests use it. */
interface Used {
  readonly set: PluginSet;
  requests: number;
}

/** The plugin set that new requests get, and those before it that requests still use. Each is disposed after its last request. */
export class PluginSets {
  #newest: Used;
  readonly #older = new Map<ActiveConfig, Used>();

  constructor(set: PluginSet) {
    this.#newest = { set, requests: 0 };
  }

  get newest(): PluginSet {
    return this.#newest.set;
  }

  /** Sets that were replaced and are still in use. */
  get olderCount(): number {
    return this.#older.size;
  }

  /** New requests get this set from now on. Plugins of the set before that only the control plane uses are disposed at once. */
  publish(set: PluginSet): void {
    const before = this.#newest;
    this.#newest = { set, requests: 0 };
    before.set.retire();
    if (before.requests === 0) before.set.dispose();
    else this.#older.set(before.set.active, before);
  }

  /** One more request uses the newest set. */
  take(): ActiveConfig {
    this.#newest.requests += 1;
    return this.#newest.set.active;
  }

  /** A request that took this config has ended. */
  giveBack(config: ActiveConfig): void {
    if (config === this.#newest.set.active) {
      this.#newest.requests -= 1;
      return;
    }
    const older = this.#older.get(config);
    if (older === undefined) return;
    older.requests -= 1;
    if (older.requests > 0) return;
    this.#older.delete(config);
    older.set.dispose();
  }

  /** Disposes all of them. */
  dispose(): void {
    for (const { set } of this.#older.values()) set.dispose();
    this.#older.clear();
    this.#newest.set.dispose();
  }
}

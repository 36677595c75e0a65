import type { InstanceName } from "../active-config.ts";
import type { SavedState } from "../state/facts-document.ts";
import { savedValue } from "../state/saved-state.ts";

interface Entry {
  readonly version: number;
  readonly state: unknown;
}

/** State of plugin instances that outlives a reload: one entry for each instance name and type. */
export class KeptState {
  readonly #entries: Map<string, Entry>;

  constructor(entries: Iterable<readonly [string, Entry]> = []) {
    this.#entries = new Map(entries);
  }

  /** The same state for the instances of the next config. What they add or replace is not seen here, in case they are refused. */
  draft(): KeptState {
    return new KeptState(this.#entries);
  }

  /** The state of that instance; calls `make` if there is none, or one of another version. */
  get<State>(type: string, name: string, version: number, make: () => State): State {
    const key = keyOf(type, name);
    const known = this.#entries.get(key);
    // It was made for the same type and version, so it has the same shape.
    if (known?.version === version) return known.state as State;
    const state = make();
    this.#entries.set(key, { version, state });
    return state;
  }

  has({ type, name }: InstanceName): boolean {
    return this.#entries.has(keyOf(type, name));
  }

  /** The state of these instances as JSON; without those that have none, or none that JSON can hold. */
  saved(instances: readonly InstanceName[]): readonly SavedState[] {
    return instances.flatMap(({ type, name }) => {
      const entry = this.#entries.get(keyOf(type, name));
      const value = entry && savedValue(entry.state);
      return value === undefined ? [] : [{ type, name, version: entry!.version, ...value }];
    });
  }

  /** Forgets the state of all instances that are not in the list. */
  retain(instances: readonly InstanceName[]): void {
    const kept = new Set(instances.map(({ type, name }) => keyOf(type, name)));
    for (const key of this.#entries.keys()) if (!kept.has(key)) this.#entries.delete(key);
  }
}

/** Under which the state of an instance is kept. */
export const keyOf = (type: string, name: string) => `${type}\0${name}`;

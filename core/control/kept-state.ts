/** Where a plugin instance's state lives that outlives a reload: one entry for each instance name and type. */
export class KeptState {
  readonly #entries = new Map<string, { readonly version: number; readonly state: unknown }>();

  /** The state of that instance; made now if there is none, or one of another version. */
  get<State>(type: string, name: string, version: number, make: () => State): State {
    const key = keyOf(type, name);
    const known = this.#entries.get(key);
    // The same type and version made it, so it has the same shape.
    if (known?.version === version) return known.state as State;
    const state = make();
    this.#entries.set(key, { version, state });
    return state;
  }

  /** Forgets the state of instances that the newest config does not have. */
  retain(instances: readonly { readonly type: string; readonly name: string }[]): void {
    const kept = new Set(instances.map(({ type, name }) => keyOf(type, name)));
    for (const key of this.#entries.keys()) if (!kept.has(key)) this.#entries.delete(key);
  }
}

const keyOf = (type: string, name: string) => `${type}\0${name}`;

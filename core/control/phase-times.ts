import type { Endpoint, Phase } from "../contract/endpoint.ts";

interface Seen {
  readonly phase: Phase;
  readonly sinceMs: number;
}

/** Since when each endpoint has been in its phase, on the router's clock. */
export class PhaseTimes {
  #seen: ReadonlyMap<string, Seen> = new Map();

  /** Takes the whole list after each change of it. */
  follow(endpoints: readonly Endpoint[], nowMs: number): void {
    const seen = new Map<string, Seen>();
    for (const { name, phase } of endpoints) {
      const before = this.#seen.get(name);
      seen.set(name, before?.phase === phase ? before : { phase, sinceMs: nowMs });
    }
    this.#seen = seen;
  }

  /** NaN for an endpoint that is not listed. */
  sinceMs(name: string): number {
    return this.#seen.get(name)?.sinceMs ?? Number.NaN;
  }
}

import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Death, Suspect } from "./deaths.ts";

/** A replica that has died refuses connections within this time, which a probe at once tells. */
const CONFIRM_MS = 5_000;
/** The connections of a process that has ended end within this time. */
const GATHER_MS = 250;
/** More requests than a replica has in its queue while its router works as it should. */
const MOST_SUSPECTS = 256;

/** What an endpoint has lost lately. */
interface Incident {
  readonly endpoint: Endpoint;
  readonly suspects: Map<string, Suspect>;
  /** It is known to be gone; others of its requests may still have to end. */
  isDeath: boolean;
  cancel: () => void;
}

export interface IncidentsOptions {
  readonly clock: Clock;
  /** Requests under way at the endpoint. */
  readonly inFlight: (endpoint: Endpoint) => number;
  readonly died: (death: Death) => void;
}

/**
 * Makes deaths of two facts that come in either order: requests that an endpoint has lost, and that it is gone. Neither alone is a death:
 * a replica may close a connection, and one that is taken away while it is idle says nothing of a prompt.
 */
export class Incidents {
  readonly #options: IncidentsOptions;
  /** By the endpoints' names. */
  readonly #open = new Map<string, Incident>();
  #dying = 0;

  constructor(options: IncidentsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Requests that were lost, and may have been there when a replica died. */
  get suspects(): readonly Suspect[] {
    return [...this.#open.values()].flatMap(({ suspects }) => [...suspects.values()]);
  }

  /** Whether the endpoint's next lost request can matter. */
  hasRoom({ name }: Endpoint): boolean {
    return (this.#open.get(name)?.suspects.size ?? 0) < MOST_SUSPECTS;
  }

  lost(endpoint: Endpoint, suspect: Suspect): void {
    const incident = this.#incidentAt(endpoint);
    incident.suspects.set(suspect.key, suspect);
    if (incident.isDeath) this.#concludeIfIdle(incident);
  }

  gone(endpoint: Endpoint): void {
    const incident = this.#incidentAt(endpoint);
    if (incident.isDeath) return;
    const { clock } = this.#options;
    this.#forgetOld(incident, clock.now());
    incident.isDeath = true;
    this.#dying += 1;
    incident.cancel = clock.after(GATHER_MS, () => this.#conclude(incident));
    this.#concludeIfIdle(incident);
  }

  /** A request has ended. */
  ended(): void {
    if (this.#dying === 0) return;
    for (const incident of [...this.#open.values()]) if (incident.isDeath) this.#concludeIfIdle(incident);
  }

  /** The prompt was served. */
  clear(key: string): void {
    for (const { suspects } of this.#open.values()) suspects.delete(key);
  }

  sweep(nowMs: number): void {
    for (const [name, incident] of this.#open) {
      if (incident.isDeath) continue;
      this.#forgetOld(incident, nowMs);
      if (incident.suspects.size === 0) this.#open.delete(name);
    }
  }

  close(): void {
    for (const { cancel } of this.#open.values()) cancel();
    this.#open.clear();
    this.#dying = 0;
  }

  #incidentAt(endpoint: Endpoint): Incident {
    const known = this.#open.get(endpoint.name);
    if (known !== undefined) return known;
    const incident: Incident = { endpoint, suspects: new Map(), isDeath: false, cancel() {} };
    this.#open.set(endpoint.name, incident);
    return incident;
  }

  #forgetOld({ suspects }: Incident, nowMs: number): void {
    for (const [key, { lostAtMs }] of suspects) if (nowMs - lostAtMs > CONFIRM_MS) suspects.delete(key);
  }

  /** Not before: a request that was there as well must not be left out. */
  #concludeIfIdle(incident: Incident): void {
    if (this.#options.inFlight(incident.endpoint) === 0) this.#conclude(incident);
  }

  #conclude(incident: Incident): void {
    const { endpoint, suspects, cancel } = incident;
    cancel();
    this.#dying -= 1;
    this.#open.delete(endpoint.name);
    if (suspects.size > 0) this.#options.died({ endpoint: endpoint.name, atMs: this.#options.clock.now(), suspects });
  }
}

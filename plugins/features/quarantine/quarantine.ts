import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import { wasServed } from "../../../core/report/blame.ts";
import { promptBytes } from "../../../core/state/hashed-prompt.ts";
import { culpritOf, type Death, type Suspect } from "./deaths.ts";
import { Incidents } from "./incidents.ts";
import { promptKey } from "./prompt-key.ts";
import type { QuarantineSettings } from "./quarantine-config.ts";

/** A replica that dies of a prompt does so soon after it has come. */
const SUSPECT_MS = 10_000;
/** As long as it takes a replica to load a large model again, so that the same replica can show it twice. */
const REMEMBERED_MS = 600_000;
const MOST_DEATHS = 32;
const SWEEP_MS = 1_000;

/** A prompt that is refused for now, and the deaths that are laid to it. */
export interface Quarantined extends Suspect {
  readonly deaths: readonly Death[];
  readonly untilMs: number;
  /** The same, in milliseconds since 1970. */
  readonly untilWallMs: number;
}

export interface QuarantineHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly inFlight: (endpoint: Endpoint) => number;
}

/** Learns which prompts replicas die of, and refuses them for a while. */
export class Quarantine {
  /** So many times since the start. */
  readonly counts = { prompts: 0, refused: 0 };
  readonly #host: QuarantineHost;
  readonly #incidents: Incidents;
  #settings: QuarantineSettings = { isOn: false, durationMs: 0 };
  /** Those that are laid to no prompt yet, oldest first. */
  #deaths: Death[] = [];
  readonly #quarantined = new Map<string, Quarantined>();
  /** Lengths of all prompts that are suspected or quarantined: others need not be hashed. */
  #lengths = new Set<number>();
  /** Keys of requests whose prompts are suspected, or whose bodies are gone. */
  readonly #keys = new WeakMap<Outcome, string>();
  #stopSweeping: (() => void) | undefined;

  constructor(host: QuarantineHost) {
    this.#host = host;
    const { clock, inFlight } = host;
    this.#incidents = new Incidents({ clock, inFlight, died: (death) => this.#died(death) });
  }

  get quarantined(): readonly Quarantined[] {
    return [...this.#quarantined.values()];
  }

  use(settings: QuarantineSettings): void {
    this.#settings = settings;
    if (!settings.isOn) this.close();
  }

  /** Throws for a prompt that is quarantined. */
  admit(run: RequestRun): undefined {
    if (this.#lengths.size === 0) return;
    const { promptSpans } = run.parsed!;
    if (!this.#lengths.has(promptBytes(promptSpans))) return;
    const key = keyOf(run, run.body!.bytes);
    const quarantined = this.#quarantined.get(key);
    if (quarantined === undefined || quarantined.untilMs <= this.#host.clock.now()) {
      this.#keys.set(run.ticket, key);
      return;
    }
    this.counts.refused += 1;
    throw refusal(quarantined);
  }

  /** The body of a request is about to be freed, and a replica may still die of it. */
  freesBody(run: RequestRun): void {
    // Hashing large prompts costs too much for times in which no replica dies.
    if (this.#lengths.size > 0) this.#keys.set(run.ticket, keyOf(run, run.ticket.request!.body));
  }

  /** A replica ended before the request's first token. */
  lost(run: RequestRun, endpoint: Endpoint, sentAtMs: number): void {
    const { ticket } = run;
    const { request, id } = ticket;
    const lostAtMs = this.#host.clock.now();
    if (request === undefined || request.promptSpans.length === 0 || lostAtMs - sentAtMs > SUSPECT_MS) return;
    if (!this.#incidents.hasRoom(endpoint)) return;
    const key = this.#keys.get(ticket) ?? (request.body.length > 0 ? keyOf(run, request.body) : undefined);
    if (key === undefined) return;
    // Another replica may serve it yet.
    this.#keys.set(ticket, key);
    const { model, promptSpans } = request;
    const suspect = { key, promptBytes: promptBytes(promptSpans), tenant: tenantOf(ticket), model, id, lostAtMs };
    this.#incidents.lost(endpoint, suspect);
    this.#lengths.add(suspect.promptBytes);
    this.#sweepLater();
  }

  replicaGone(endpoint: Endpoint): void {
    if (!this.#settings.isOn) return;
    this.#incidents.gone(endpoint);
    this.#sweepLater();
  }

  settled(outcome: Outcome): void {
    const isSuspecting = this.#lengths.size > 0 || !this.#incidents.isEmpty;
    if (isSuspecting && outcome.ending === "complete" && wasServed(outcome)) this.#clear(this.#keys.get(outcome));
    this.#incidents.ended();
  }

  close(): void {
    this.#incidents.close();
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
    this.#quarantined.clear();
    this.#deaths = [];
    this.#index();
  }

  /** A replica has served the prompt: it is not what others died of. */
  #clear(key: string | undefined): void {
    if (key === undefined) return;
    this.#incidents.clear(key);
    this.#quarantined.delete(key);
    for (const { suspects } of this.#deaths) suspects.delete(key);
    this.#deaths = this.#deaths.filter(({ suspects }) => suspects.size > 0);
    this.#index();
  }

  #died(death: Death): void {
    this.#deaths = [...this.#deaths, death].slice(-MOST_DEATHS);
    const culprit = culpritOf(this.#deaths);
    if (culprit !== undefined) this.#quarantine(culprit);
    this.#index();
  }

  /** Its deaths are explained: whoever was there as well is not suspected for them any more. */
  #quarantine(key: string): void {
    const { clock, log } = this.#host;
    const { durationMs } = this.#settings;
    const own = this.#deaths.filter(({ suspects }) => suspects.has(key));
    this.#deaths = this.#deaths.filter((death) => !own.includes(death));
    const deaths = own.map(({ suspects, ...death }) => ({ ...death, suspects: new Map([[key, suspects.get(key)!]]) }));
    const suspect = deaths.at(-1)!.suspects.get(key)!;
    const [untilMs, untilWallMs] = [clock.now() + durationMs, clock.wall() + durationMs];
    this.#quarantined.set(key, { ...suspect, deaths, untilMs, untilWallMs });
    this.counts.prompts += 1;
    const { tenant, model, promptBytes: bytes } = suspect;
    log.warn("Replicas have died of a prompt: it is refused for a while", {
      ...(tenant !== "" && { tenant }),
      ...{ model, promptBytes: bytes, seconds: durationMs / 1000 },
      ...{ endpoints: endpointsOf(deaths), requests: requestsOf(deaths) },
    });
  }

  #index(): void {
    const lost = this.#deaths.flatMap((death) => [...death.suspects.values()]);
    // Those of replicas that are not known to be gone yet too: a request that is served before that clears its prompt.
    const suspects = [...lost, ...this.#incidents.suspects];
    this.#lengths = new Set([...suspects, ...this.#quarantined.values()].map((each) => each.promptBytes));
  }

  #sweepLater(): void {
    this.#stopSweeping ??= this.#host.clock.every(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    const nowMs = this.#host.clock.now();
    this.#incidents.sweep(nowMs);
    for (const quarantined of this.quarantined) if (quarantined.untilMs <= nowMs) this.#release(quarantined);
    this.#deaths = this.#deaths.filter(({ atMs }) => nowMs - atMs < REMEMBERED_MS);
    this.#index();
    if (!this.#incidents.isEmpty || this.#lengths.size > 0) return;
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }

  /** One more death is enough from now on, as long as the earlier ones are remembered. */
  #release({ key, model, promptBytes: bytes, deaths }: Quarantined): void {
    this.#quarantined.delete(key);
    this.#deaths = [...deaths, ...this.#deaths].slice(-MOST_DEATHS);
    this.#host.log.info("A prompt that replicas had died of is let through again", { model, promptBytes: bytes });
  }
}

/** Where replicas died of it. */
export const endpointsOf = (deaths: readonly Death[]) => [...new Set(deaths.map(({ endpoint }) => endpoint))].join(", ");

/** Requests that the log has. */
export const requestsOf = (deaths: readonly Death[]) =>
  deaths.flatMap(({ suspects }) => [...suspects.values()].map(({ id }) => id)).join(", ");

const tenantOf = ({ principal }: Outcome) => principal?.tenant ?? "";

function keyOf({ ticket, parsed }: RequestRun, body: Uint8Array): string {
  const { model, promptSpans } = parsed!;
  return promptKey({ tenant: tenantOf(ticket), model, body, spans: promptSpans });
}

function refusal({ deaths }: Quarantined): RouterError {
  const message =
    `Replicas ended ${deaths.length} times while they had this prompt, so it is refused for a while; ` +
    "change it, or have the operator look for the cause in the replicas' logs.";
  return new RouterError("prompt_quarantined", message);
}

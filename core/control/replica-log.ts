import type { Endpoint, Phase } from "../contract/endpoint.ts";
import type { Log, LogFields } from "../contract/log.ts";
import type { OperatorIntent } from "../pool/operator-intents.ts";

export interface ReplicaLogOptions {
  readonly log: Log;
  readonly intentOf: (name: string) => OperatorIntent | undefined;
  /** Why the endpoint's last probe failed; "" after a success. */
  readonly probeFailure: (endpoint: Endpoint) => string;
}

/** What is known of an endpoint since the last change. */
interface Seen {
  readonly endpoint: Endpoint;
  readonly intent: OperatorIntent | undefined;
  /** Since when it has been in its phase. */
  readonly sinceMs: number;
}

interface Line {
  readonly message: string;
  readonly why: string;
  readonly isBad?: boolean;
  readonly more?: LogFields;
}

/** Replicas that are ready so soon after the start are in the program's first line. */
const START_MS = 2_000;
const MOST_MODELS = 8;
const MOST_CHARS = 200;
const NOT_READY = "its discovery says so";

/**
 * Follows the pool, and logs each change of a replica in one line: its phase, its ejection, what an operator wants of it, and that it
 * joins or leaves the pool. Nothing else logs these. Also logs once that all replicas are ready, and again only after new ones have
 * joined.
 */
export class ReplicaLog {
  readonly #options: ReplicaLogOptions;
  #seen: ReadonlyMap<string, Seen> | undefined;
  #startedAtMs = Number.NaN;
  #isCompleteTold = false;

  constructor(options: ReplicaLogOptions) {
    this.#options = options;
  }

  /** Since when the endpoint has been in its phase, on the router's clock; NaN if it is not listed. */
  phaseSinceMs(name: string): number {
    return this.#seen?.get(name)?.sinceMs ?? Number.NaN;
  }

  /** Takes the whole list after each change of it. `cause`: who or what ended an intent. */
  follow(endpoints: readonly Endpoint[], nowMs: number, cause: string): void {
    const before = this.#seen;
    const seen = new Map(endpoints.map((endpoint) => [endpoint.name, this.#seenNow(endpoint, nowMs)]));
    this.#seen = seen;
    if (before === undefined) {
      this.#startedAtMs = nowMs;
      return;
    }
    for (const [name, known] of before) if (!seen.has(name)) this.#left(known, nowMs);
    for (const [name, now] of seen) {
      const known = before.get(name);
      if (known === undefined) this.#joined(now.endpoint);
      else if (known.endpoint !== now.endpoint) this.#changed(known, now, cause, nowMs);
    }
    this.#tellComplete(endpoints, nowMs);
  }

  #seenNow(endpoint: Endpoint, nowMs: number): Seen {
    const known = this.#seen?.get(endpoint.name);
    const sinceMs = known?.endpoint.phase === endpoint.phase ? known.sinceMs : nowMs;
    return { endpoint, intent: this.#options.intentOf(endpoint.name), sinceMs };
  }

  #joined({ name, phase }: Endpoint): void {
    this.#isCompleteTold = false;
    this.#options.log.info("A replica joins the pool", { endpoint: name, to: phase });
  }

  #left({ endpoint, sinceMs }: Seen, nowMs: number): void {
    const fields = { endpoint: endpoint.name, from: endpoint.phase, lastedS: seconds(nowMs - sinceMs) };
    this.#options.log.info("A replica leaves the pool", fields);
  }

  #changed(known: Seen, now: Seen, cause: string, nowMs: number): void {
    const line = this.#lineOf(known, now, cause, nowMs);
    if (line === undefined) return;
    const { name, phase } = now.endpoint;
    const { message, why, isBad = false, more } = line;
    const lastedS = seconds(nowMs - known.sinceMs);
    const fields = { endpoint: name, from: known.endpoint.phase, to: phase, why, lastedS, ...more };
    if (isBad) this.#options.log.warn(message, fields);
    else this.#options.log.info(message, fields);
  }

  /** What operators do comes first, then ejections: the phase may show neither. */
  #lineOf(known: Seen, now: Seen, cause: string, nowMs: number): Line | undefined {
    if (known.intent !== now.intent) return intentLine(now.intent, cause);
    const [before, after] = [known.endpoint, now.endpoint];
    if (before.ejection !== after.ejection) return ejectionLine(before, after, nowMs);
    if (before.phase === after.phase) return undefined;
    return this.#phaseLine(before.phase, after, nowMs);
  }

  #phaseLine(before: Phase, after: Endpoint, nowMs: number): Line | undefined {
    const { phase, models, reported } = after;
    if (reported === "leaving") return { message: "A replica is draining", why: "it is being taken away" };
    if (phase === "not-ready" || phase === "starting") {
      const why = this.#options.probeFailure(after) || (reported === "not-ready" ? NOT_READY : "a failed probe");
      const wasUp = before !== "starting" && before !== "not-ready";
      const message = `A replica is ${wasUp ? "not ready any more" : phase === "starting" ? "starting" : "not ready in time"}`;
      return { message, why, isBad: phase === "not-ready" || wasUp };
    }
    if (phase === "asleep") return { message: "A replica is asleep", why: "its engine says so in its metrics" };
    if (phase !== "ready") return { message: `A replica is ${phase}`, why: "its probes succeed" };
    if (before === "starting" && nowMs - this.#startedAtMs < START_MS) return undefined;
    const shown = [...models].slice(0, MOST_MODELS).join(", ").slice(0, MOST_CHARS);
    const why = before === "asleep" ? "its engine was woken" : "its probes succeed";
    return { message: "A replica is ready", why, more: { models: shown } };
  }

  #tellComplete(endpoints: readonly Endpoint[], nowMs: number): void {
    if (this.#isCompleteTold || endpoints.length === 0 || endpoints.some(({ phase }) => phase !== "ready")) return;
    this.#isCompleteTold = true;
    if (nowMs - this.#startedAtMs < START_MS) return;
    this.#options.log.info("All replicas of the pool are ready", { replicas: endpoints.length });
  }
}

function intentLine(intent: OperatorIntent | undefined, cause: string): Line {
  if (intent === undefined) return { message: "A replica serves again", why: cause };
  const { reason, by, sinceMs, untilMs } = intent;
  const message = intent.intent === "drain" ? "A replica is drained" : "A replica is cordoned";
  const more = { by, ...(untilMs !== undefined && { forS: seconds(untilMs - sinceMs) }) };
  return { message, why: reason || "an operator asked for it", more };
}

function ejectionLine({ ejection: before }: Endpoint, { ejection: after }: Endpoint, nowMs: number): Line {
  if (after === undefined) return { message: "A replica returns from its ejection", why: `was ejected for ${before?.reason}` };
  const more = { forS: seconds(after.untilMs - nowMs) };
  if (before === undefined) return { message: "A replica is ejected", why: after.reason, isBad: true, more };
  return { message: "A replica stays ejected", why: `failed on trial: ${after.reason}`, isBad: true, more };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

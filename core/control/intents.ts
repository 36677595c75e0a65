import type { Clock } from "../contract/clock.ts";
import type { OperatorIntent, OperatorIntents, Wish } from "../pool/operator-intents.ts";
import type { IntentStanding } from "./availability.ts";

interface Entry {
  readonly shown: OperatorIntent;
  isInGrace: boolean;
  readonly cancel: () => void;
}

/**
 * What operators want of endpoints, by name. It outlives reloads, and an endpoint that leaves the pool and returns is still drained:
 * a discovery that is briefly wrong must not end what an operator said.
 */
export class Intents implements OperatorIntents {
  readonly #clock: Clock;
  readonly #changed: (name: string, cause: string) => void;
  readonly #entries = new Map<string, Entry>();
  /** Grows with every change. */
  revision = 0;

  /** `changed` is called when the standing of an endpoint is not what it was; `cause` says who or what ended its intent, or "". */
  constructor(clock: Clock, changed: (name: string, cause: string) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  of(name: string): OperatorIntent | undefined {
    return this.#entries.get(name)?.shown;
  }

  standingOf(name: string): IntentStanding {
    const entry = this.#entries.get(name);
    return { intent: entry?.shown.intent ?? "serve", isInGrace: entry?.isInGrace ?? false };
  }

  /** Replaces what was wanted of the endpoint before. */
  set(name: string, { intent, reason, by, forMs, graceMs }: Wish): void {
    const sinceMs = this.#clock.wall();
    const grace = intent === "drain" ? graceMs : 0;
    const shown: OperatorIntent = {
      intent,
      reason,
      by,
      sinceMs,
      untilMs: forMs === undefined ? undefined : sinceMs + forMs,
      graceUntilMs: sinceMs + grace,
    };
    this.#entries.get(name)?.cancel();
    const endGrace = grace > 0 ? this.#clock.after(grace, () => this.#endGrace(name)) : undefined;
    const expire = forMs === undefined ? undefined : this.#clock.after(forMs, () => this.clear(name, "its time is over"));
    const cancel = () => {
      endGrace?.();
      expire?.();
    };
    this.#entries.set(name, { shown, isInGrace: grace > 0, cancel });
    this.revision += 1;
    this.#changed(name, "");
  }

  /** The endpoint serves again; `cause` says who or what ended it. Returns whether anything was wanted of it. */
  clear(name: string, cause: string): boolean {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    entry.cancel();
    this.#entries.delete(name);
    this.revision += 1;
    this.#changed(name, cause);
    return true;
  }

  /** Ends all timers. */
  close(): void {
    for (const { cancel } of this.#entries.values()) cancel();
  }

  #endGrace(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.isInGrace = false;
    this.#changed(name, "");
  }
}

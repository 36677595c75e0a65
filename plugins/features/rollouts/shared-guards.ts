import type { Clock } from "../../../core/contract/clock.ts";
import { moment, text } from "../../../core/contract/fact-fields.ts";
import { printable } from "../../../core/contract/printable.ts";
import type { FactTeller, SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import type { RolloutGuard } from "./rollout-guard.ts";

const MOST_KEY_CHARS = 64;
const MOST_REASON_CHARS = 1_000;

/** Lets the guards of all routers judge by what each of them sees: one that has seen enough stops its target at all of them. */
export class SharedGuards implements SharedFacts {
  readonly #clock: Clock;
  readonly #guards: () => readonly RolloutGuard[];
  readonly #stops = new UnsaidFacts<RolloutGuard>();
  #soon: (() => void) | undefined;

  constructor(clock: Clock, guards: () => readonly RolloutGuard[]) {
    this.#clock = clock;
    this.#guards = guards;
  }

  /** A guard has judged a request of this router. */
  judged(): void {
    this.#soon?.();
  }

  /** A guard has stopped its target, because it has found it worse or because another router's has. */
  stopped(guard: RolloutGuard): void {
    if (guard.stoppedElsewhere === "") this.#stops.changed(guard, this.#clock.now());
    else this.#stops.remember(guard);
  }

  listen(soon: (() => void) | undefined): void {
    this.#soon = soon;
    this.#stops.listen(soon);
  }

  *say(): Generator<SharedFact> {
    const guards = this.#guards();
    for (const guard of this.#stops.take())
      if (guard.isStopped && guards.includes(guard))
        yield ["stopped", guard.key, guard.stoppedAtMs, guard.reason.slice(0, MOST_REASON_CHARS)];
    for (const guard of guards) for (let fact = guard.say(); fact !== undefined; fact = guard.say()) yield fact;
  }

  repeat(ms: number): void {
    const sinceMs = this.#clock.now() - ms;
    this.#stops.repeat(sinceMs);
    for (const guard of this.#guards()) guard.repeat(sinceMs);
  }

  hear([what, key, ...fields]: SharedFact, { router, isOwn }: FactTeller): void {
    if (isOwn) return;
    const wanted = text(key, MOST_KEY_CHARS);
    const guard = this.#guards().find((each) => each.key === wanted);
    if (what === "seen") guard?.hear(router, fields);
    else if (what === "stopped") {
      const [wallMs, reason] = [moment(fields[0]), printable(text(fields[1], MOST_REASON_CHARS))];
      // What was stopped before somebody gave the target a share again counts no more.
      if (guard !== undefined && wallMs >= guard.restartedAtMs) guard.heardStop(reason);
    }
  }

  gone(): void {}
}

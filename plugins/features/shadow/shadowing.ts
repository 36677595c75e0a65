import type { Profile } from "../../../core/active-config.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Decision } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import { firstTokenMs } from "../../../core/contract/expected-wait.ts";
import type { LoadView } from "../../../core/contract/load-view.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { ShadowChoice } from "../../../core/contract/shadow.ts";
import type { Compared } from "../../../core/contract/slots/compare.ts";
import { type FaultReporter, faultText } from "../../../core/plugin-watch/plugin-faults.ts";
import type { Run } from "../../../core/run.ts";
import type { ShadowConfig } from "./shadow-config.ts";
import { ShadowTally } from "./shadow-tally.ts";

/** Of the thread's time, the part that the shadow may take on average, and how much of it may be saved up. */
const TIME_SHARE = 0.1;
const MOST_SAVED_MS = 100;

/**
 * Lets a second profile decide requests on the same facts and with the same random numbers, so that a shadow like the first profile
 * always agrees. Nothing follows from what it decides. Its plugins can't be interrupted, so its time is bounded afterwards: it
 * pauses until what it took is a tenth of the time that has passed.
 */
export class Shadowing {
  readonly #clock: Clock;
  readonly #faults: FaultReporter;
  #tally: ShadowTally | undefined;
  #savedMs = MOST_SAVED_MS;
  #savedAtMs = 0;

  constructor(clock: Clock, faults: FaultReporter) {
    this.#clock = clock;
    this.#faults = faults;
  }

  /** What the shadow has done; undefined without one. */
  get counts(): ShadowTally | undefined {
    return this.#tally;
  }

  /** Another config runs. A shadow of another name is counted anew. */
  useShadow(shadow: ShadowConfig | undefined): void {
    if (shadow === undefined) this.#tally = undefined;
    else if (this.#tally?.profile === shadow.name) this.#tally.percent = shadow.percent;
    else this.#tally = new ShadowTally(shadow.name, shadow.percent);
  }

  /** Decides with the profile, and for a share of the requests with the shadow too. */
  decide({ ticket, config }: Run, compared: Compared): Decision {
    const { profile, random } = compared;
    const shadow = config.others.get("shadow");
    const tally = this.#tally;
    // A request of the config before this one may come with another shadow.
    const isMeant = shadow !== undefined && tally !== undefined && tally.profile === shadow.name;
    if (!isMeant || !this.#takes(random, tally)) return compared.decide(profile, random);
    const tape = new RandomTape(random);
    const decision = compared.decide(profile, tape.record);
    ticket.shadow = this.#choice(shadow, decision, compared, tape.replay, tally);
    return decision;
  }

  #takes(random: Random, tally: ShadowTally): boolean {
    const { percent } = tally;
    if (percent < 100 && random() * 100 >= percent) return false;
    const nowMs = this.#clock.now();
    this.#savedMs = Math.min(MOST_SAVED_MS, this.#savedMs + TIME_SHARE * (nowMs - this.#savedAtMs));
    this.#savedAtMs = nowMs;
    if (this.#savedMs > 0) return true;
    tally.skipped += 1;
    return false;
  }

  #choice(
    profile: Profile,
    decision: Decision,
    { request, load, decide }: Compared,
    random: Random,
    tally: ShadowTally,
  ): ShadowChoice | undefined {
    const fromMs = this.#clock.now();
    try {
      const own = decide(profile, random);
      this.#report(own, tally);
      const endpoint = own.legs[0]?.order[0];
      if (endpoint !== undefined) tellOwn(profile, request, endpoint, load);
      const choice = compare(profile.name, request, decision, own, load);
      tally.decided(choice);
      return choice;
    } catch (thrown) {
      tally.faults += 1;
      const fault = thrown instanceof RouterError ? thrown.fault : undefined;
      this.#faults.report(fault?.plugin ?? profile.name, fault?.text ?? faultText(thrown));
      return undefined;
    } finally {
      this.#savedMs -= this.#clock.now() - fromMs;
    }
  }

  #report({ faults }: Decision, tally: ShadowTally): void {
    if (faults.length > 0) tally.faults += 1;
    for (const { plugin, message } of faults) this.#faults.report(plugin, message);
  }
}

/** What a plugin with a memory has to know, such as whose turn it was. A fault here counts as one of the decision. */
function tellOwn({ chosen }: Profile, request: InferenceRequest, endpoint: Endpoint, load: LoadView): void {
  for (const { plugin } of chosen) plugin.chosen(request, endpoint, load);
}

function compare(profile: string, request: InferenceRequest, decision: Decision, own: Decision, load: LoadView): ShadowChoice {
  const chosen = decision.legs[0]?.order[0];
  const other = own.legs[0]?.order[0];
  const differenceMs =
    chosen === undefined || other === undefined
      ? Number.NaN
      : firstTokenMs(request, other, load) - firstTokenMs(request, chosen, load);
  return {
    profile,
    endpoint: other?.name ?? "",
    refusal: own.refusal?.code ?? "",
    isSame: chosen === other,
    differenceMs,
  };
}

/** Random numbers, and the same ones again for a second decision; when it takes more, it gets new ones. */
class RandomTape {
  readonly #random: Random;
  readonly #drawn: number[] = [];
  #next = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly record = (): number => {
    const drawn = this.#random();
    this.#drawn.push(drawn);
    return drawn;
  };

  readonly replay = (): number => {
    const drawn = this.#drawn[this.#next] ?? this.#random();
    this.#next += 1;
    return drawn;
  };
}

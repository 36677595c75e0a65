import type { Time } from "../../../core/contract/clock.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import type { FactTeller, SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import type { Accounts } from "./accounts.ts";
import { factOf, useOf } from "./key-use.ts";

/** Lets routers know what keys with limits use at each of them. */
export class SharedKeys implements SharedFacts {
  readonly #accounts: Accounts;
  readonly #clock: Time;
  readonly #unsaid = new UnsaidFacts<string>();

  constructor(accounts: Accounts, clock: Time) {
    this.#accounts = accounts;
    this.#clock = clock;
  }

  /** The principal has begun or ended something. */
  used(name: string, { requestsPerMinute, tokensPerMinute, concurrency }: PrincipalLimits, nowMs: number): void {
    if ((requestsPerMinute ?? tokensPerMinute ?? concurrency) !== undefined) this.#unsaid.changed(name, nowMs);
  }

  listen(soon: (() => void) | undefined): void {
    this.#unsaid.listen(soon);
    if (soon === undefined) this.#accounts.forgetOthers();
  }

  *say(): Generator<SharedFact> {
    const nowMs = this.#clock.now();
    for (const name of this.#unsaid.take()) {
      const account = this.#accounts.find(name);
      if (account !== undefined) yield factOf(name, account.use(nowMs));
    }
  }

  repeat(ms: number): void {
    this.#unsaid.repeat(this.#clock.now() - ms);
  }

  hear(fact: SharedFact, { router, isOwn }: FactTeller): void {
    const { name, use } = useOf(fact);
    const nowMs = this.#clock.now();
    if (isOwn) this.#accounts.find(name)?.heardBack(use);
    else this.#accounts.othersOf(name, nowMs)?.heard(router, use, nowMs);
  }

  gone(router: string): void {
    this.#accounts.gone(router);
  }
}

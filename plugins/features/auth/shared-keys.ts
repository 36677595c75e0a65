import type { Clock } from "../../../core/contract/clock.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import type { FactTeller, SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import type { Accounts } from "./accounts.ts";
import { factOf, useOf } from "./key-use.ts";

/** How long a message may take to come back. */
const LONGEST_MS = 200;

/** Lets routers know what keys with limits use at each of them. */
export class SharedKeys implements SharedFacts {
  readonly #accounts: Accounts;
  readonly #clock: Clock;
  readonly #unsaid = new UnsaidFacts<string>();
  #cameBack: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(accounts: Accounts, clock: Clock) {
    this.#accounts = accounts;
    this.#clock = clock;
  }

  /** The principal has begun or ended something. */
  used(name: string, { requestsPerMinute, tokensPerMinute, concurrency }: PrincipalLimits, nowMs: number): void {
    if ((requestsPerMinute ?? tokensPerMinute ?? concurrency) !== undefined) this.#unsaid.changed(name, nowMs);
  }

  /** Until the others have heard of what is used here; or have not, in a time in which they usually do. */
  heardByOthers(): Promise<void> {
    if (this.#cameBack === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((resolved) => {
        const cancel = this.#clock.after(LONGEST_MS, () => resolve());
        resolve = () => {
          cancel();
          this.#cameBack = undefined;
          resolved();
        };
      });
      this.#cameBack = { promise, resolve };
    }
    return this.#cameBack.promise;
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
    if (isOwn) {
      this.#accounts.find(name)?.heardBack(use);
      this.#cameBack?.resolve();
    } else this.#accounts.othersOf(name, nowMs)?.heard(router, use, nowMs);
  }

  gone(router: string): void {
    this.#accounts.gone(router);
  }
}

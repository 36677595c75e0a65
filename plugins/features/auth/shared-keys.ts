import type { Clock } from "../../../core/contract/clock.ts";
import { moment, text } from "../../../core/contract/fact-fields.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import type { FactTeller, SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import type { Accounts } from "./accounts.ts";
import { factOf, useOf } from "./key-use.ts";

/** Of routers that are gone, so much is told to one that comes. */
const MOST_GONE = 4_096;
const MOST_ROUTER_CHARS = 64;
/** How long a message may take to come back. */
const LONGEST_MS = 200;

/** Lets routers know what keys with limits use at each of them. */
export class SharedKeys implements SharedFacts {
  readonly #accounts: Accounts;
  readonly #clock: Clock;
  readonly #unsaid = new UnsaidFacts<string>();
  /** What routers that are gone used, which is told to one that comes. */
  #gone: SharedFact[] = [];
  /** This router, once it has heard itself. */
  #self = "";
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
        const cancel = afterAwake(this.#clock, LONGEST_MS, () => resolve());
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
    this.#gone = [];
    if (soon === undefined) this.#accounts.forgetOthers();
  }

  *say(): Generator<SharedFact> {
    const nowMs = this.#clock.now();
    for (const name of this.#unsaid.take()) {
      const account = this.#accounts.find(name);
      if (account !== undefined) yield factOf(name, account.use(nowMs));
    }
    for (let fact = this.#gone.pop(); fact !== undefined; fact = this.#gone.pop()) yield fact;
  }

  repeat(ms: number): void {
    const nowMs = this.#clock.now();
    this.#unsaid.repeat(nowMs - ms);
    // Somebody has come, who never heard them.
    if (ms === Number.POSITIVE_INFINITY) this.#gone = this.#factsOfGone(nowMs);
  }

  hear(fact: SharedFact, { router, isOwn }: FactTeller): void {
    const [who, ...fields] = fact;
    const nowMs = this.#clock.now();
    if (isOwn) this.#self = router;
    if (Array.isArray(who)) {
      const { name, use } = useOf(fields);
      const [gone, agoMs] = [text(who[0], MOST_ROUTER_CHARS), Math.max(0, moment(who[1]))];
      if (!isOwn && gone !== this.#self) this.#accounts.othersOf(name, nowMs)?.heardOfGone(gone, use, agoMs, nowMs);
      return;
    }
    const { name, use } = useOf(fact);
    if (isOwn) {
      this.#accounts.find(name)?.heardBack(use);
      this.#cameBack?.resolve();
    } else this.#accounts.othersOf(name, nowMs)?.heard(router, use, nowMs);
  }

  gone(router: string): void {
    this.#accounts.left(router);
  }

  #factsOfGone(nowMs: number): SharedFact[] {
    const facts: SharedFact[] = [];
    for (const [name, { router, use, agoMs }] of this.#accounts.gone(nowMs)) {
      facts.push([[router, Math.round(agoMs)], ...factOf(name, use)]);
      if (facts.length === MOST_GONE) break;
    }
    return facts;
  }
}

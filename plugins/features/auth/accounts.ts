import type { Principal } from "../../../core/contract/principal.ts";
import { Account } from "./account.ts";
import { KeyCountTable } from "./key-counts.ts";
import { type Gone, OthersUse } from "./others-use.ts";

/** So many are kept without a look at who is idle. */
const MOST_KEPT = 10_000;
/** Of so many principals it is known what other routers say. */
const MOST_OTHERS = 20_000;
/** Between two looks at which of them are idle. */
const SWEEP_MS = 1_000;

/** The accounts of all principals, by their names: they outlive each config. */
export class Accounts {
  readonly counts = new KeyCountTable();
  readonly #accounts = new Map<string, Account>();
  /** What other routers have said, by the principals' names. */
  readonly #others = new Map<string, OthersUse>();
  #sweepAt = MOST_KEPT;
  #sweptOthersMs = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#accounts.size;
  }

  of(principal: Principal, nowMs: number): Account {
    const known = this.#accounts.get(principal.name);
    if (known !== undefined) return known;
    if (this.#accounts.size >= this.#sweepAt) this.#sweep(nowMs);
    const account = new Account(this.counts.of(principal), nowMs);
    account.others = this.#others.get(principal.name);
    this.#accounts.set(principal.name, account);
    return account;
  }

  /** Undefined for one who has not asked here lately. */
  find(name: string): Account | undefined {
    return this.#accounts.get(name);
  }

  /** Undefined where too many are known already. */
  othersOf(name: string, nowMs: number): OthersUse | undefined {
    const known = this.#others.get(name);
    if (known !== undefined) return known;
    if (this.#others.size >= MOST_OTHERS) this.#sweepOthers(nowMs);
    if (this.#others.size >= MOST_OTHERS) return undefined;
    const others = new OthersUse();
    this.#others.set(name, others);
    const account = this.#accounts.get(name);
    if (account !== undefined) account.others = others;
    return others;
  }

  left(router: string): void {
    for (const others of this.#others.values()) others.left(router);
  }

  /** What routers that are gone used in this minute, by the principals' names. */
  *gone(nowMs: number): Generator<readonly [name: string, gone: Gone]> {
    for (const [name, others] of this.#others) for (const gone of others.gone(nowMs)) yield [name, gone];
  }

  forgetOthers(): void {
    this.#others.clear();
    for (const account of this.#accounts.values()) account.others = undefined;
  }

  /** Those that are idle count from 0 anyway. */
  #sweep(nowMs: number): void {
    for (const [name, account] of this.#accounts) if (account.isIdle(nowMs)) this.#accounts.delete(name);
    this.#sweepAt = Math.max(MOST_KEPT, 2 * this.#accounts.size);
  }

  #sweepOthers(nowMs: number): void {
    if (nowMs - this.#sweptOthersMs < SWEEP_MS) return;
    this.#sweptOthersMs = nowMs;
    for (const [name, others] of this.#others) {
      if (!others.isIdle(nowMs)) continue;
      this.#others.delete(name);
      const account = this.#accounts.get(name);
      if (account !== undefined) account.others = undefined;
    }
  }
}

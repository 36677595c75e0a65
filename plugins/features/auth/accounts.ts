import type { Principal } from "../../../core/contract/principal.ts";
import { Account } from "./account.ts";
import { KeyCountTable } from "./key-counts.ts";

/** So many are kept without a look at who is idle. */
const MOST_KEPT = 10_000;

/** The accounts of all principals, by their names: they outlive each config. */
export class Accounts {
  readonly counts = new KeyCountTable();
  readonly #accounts = new Map<string, Account>();
  #sweepAt = MOST_KEPT;

  get size(): number {
    return this.#accounts.size;
  }

  of(principal: Principal, nowMs: number): Account {
    const known = this.#accounts.get(principal.name);
    if (known !== undefined) return known;
    if (this.#accounts.size >= this.#sweepAt) this.#sweep(nowMs);
    const account = new Account(this.counts.of(principal));
    this.#accounts.set(principal.name, account);
    return account;
  }

  /** Those that are idle count from 0 anyway. */
  #sweep(nowMs: number): void {
    for (const [name, account] of this.#accounts) if (account.isIdle(nowMs)) this.#accounts.delete(name);
    this.#sweepAt = Math.max(MOST_KEPT, 2 * this.#accounts.size);
  }
}

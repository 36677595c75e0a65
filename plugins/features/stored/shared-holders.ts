import type { Time } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { BadFact, moment, text } from "../../../core/contract/fact-fields.ts";
import type { KeptObject } from "../../../core/contract/request.ts";
import type { SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import { UnsaidFacts } from "../../../core/state/unsaid-facts.ts";
import { LONGEST_ID } from "../../../core/stream/first-id-tap.ts";
import type { Holders } from "./holders.ts";

const MOST_TENANT_CHARS = 1_000;
const KIND = /^[a-z_]{1,32}$/;
const MOST_URL_CHARS = 2_048;
/** In place of a replica's address: it was deleted. */
const DELETED = "";

/** Tells other routers which replica keeps what, and takes what they know. */
export class SharedHolders implements SharedFacts {
  readonly #holders: Holders;
  readonly #clock: Time;
  readonly #known = new UnsaidFacts<string>();
  readonly #deleted = new UnsaidFacts<string>();
  #endpoints: ReadonlyMap<string, Endpoint> = new Map();
  /** 0 while nothing is kept here. */
  #maxBytes = 0;

  constructor(holders: Holders, clock: Time) {
    this.#holders = holders;
    this.#clock = clock;
  }

  use(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.url.href, endpoint]));
  }

  learned(tenant: string, named: KeptObject): void {
    const key = keyOf(tenant, named);
    this.#deleted.forget(key);
    this.#known.changed(key, this.#clock.now());
  }

  deleted(tenant: string, named: KeptObject): void {
    const key = keyOf(tenant, named);
    this.#known.forget(key);
    this.#deleted.changed(key, this.#clock.now());
  }

  listen(soon: (() => void) | undefined): void {
    this.#known.listen(soon);
    this.#deleted.listen(soon);
  }

  *say(): Generator<SharedFact> {
    for (const key of this.#deleted.take()) yield [...wordsOf(key), DELETED];
    for (const key of this.#known.take()) {
      const words = wordsOf(key);
      const [tenant, kind, id] = words;
      const holder = this.#holders.look(tenant, { kind, id });
      if (holder === undefined) this.#known.forget(key);
      else yield [...words, holder.href, holder.isDoubled ? 1 : 0, Math.round(this.#clock.now() - holder.usedAtMs)];
    }
  }

  repeat(ms: number): void {
    this.#known.repeat(this.#clock.now() - ms);
    this.#deleted.repeat(this.#clock.now() - ms);
  }

  hear([tenantField, kindField, idField, hrefField, isDoubled, idleMs]: SharedFact, { isOwn }: { isOwn: boolean }): void {
    if (isOwn || this.#maxBytes === 0) return;
    const tenant = text(tenantField, MOST_TENANT_CHARS);
    const named = { kind: text(kindField, LONGEST_ID), id: text(idField, LONGEST_ID) };
    if (!KIND.test(named.kind) || named.id === "") throw new BadFact("nothing that is kept");
    const href = text(hrefField, MOST_URL_CHARS);
    if (href === DELETED) return this.#holders.forget(tenant, named);
    const usedAtMs = this.#clock.now() - Math.max(0, moment(idleMs));
    const endpoint = this.#endpoints.get(href);
    if (endpoint === undefined) return;
    this.#hear(tenant, named, endpoint, isDoubled === 1, usedAtMs);
  }

  gone(): void {}

  #hear(tenant: string, named: KeptObject, endpoint: Endpoint, isDoubled: boolean, usedAtMs: number): void {
    const known = this.#holders.look(tenant, named);
    const isSame = known?.href === endpoint.url.href;
    // Two replicas that both exist have something of that id.
    const isNowDoubled = isDoubled || (known !== undefined && (known.isDoubled || (!isSame && this.#endpoints.has(known.href))));
    if (isSame && known.isDoubled === isNowDoubled) return;
    this.#holders.put(tenant, named, endpoint, isNowDoubled, usedAtMs);
    this.#holders.shrink(this.#maxBytes);
    // Whoever comes later may have missed it.
    this.#known.remember(keyOf(tenant, named));
  }
}

const keyOf = (tenant: string, { kind, id }: KeptObject) => JSON.stringify([tenant, kind, id]);
const wordsOf = (key: string) => JSON.parse(key) as [tenant: string, kind: string, id: string];

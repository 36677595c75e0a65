import { modelledCarrier } from "../../../../apps/lab/simulate/modelled-carrier.ts";
import type { Clock } from "../../../../core/contract/clock.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../../../core/contract/log.ts";
import { secretOf } from "../../../../core/contract/secret.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import { Booking } from "../../../../core/pool/booking.ts";
import type { Carrier, Link, LinkEvents } from "../../../../core/pool/carrier.ts";
import type { Pool } from "../../../../core/pool/pool.ts";
import type { NamedFeature } from "../../../../core/slots.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { PrefixIndex, type PromptPrefix } from "../../../../core/state/prefix-index.ts";
import { TokenScale } from "../../../../core/state/token-scale.ts";
import { UNWATCHED } from "../../../../core/state/traffic.ts";
import type { Batch, Fact } from "../../../../plugins/features/shared/message.ts";
import { sealed } from "../../../../plugins/features/shared/message.ts";
import { SharedLog } from "../../../../plugins/features/shared/shared-log.ts";
import { makeEndpoint, makeRequest } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { outstanding } from "../../../support/router.ts";

const SECRET = "0123456789abcdef";
export const REPLICAS = 3;
const WORDS = [1, 2, 3, 4, 5, 6];
const PROMPT = new TextEncoder().encode("once upon a time there was a router, ".repeat(200));

export interface TestRouter {
  readonly log: SharedLog;
  readonly load: LoadTable;
  readonly index: PrefixIndex;
  readonly endpoints: readonly Endpoint[];
  prefixOf(bytes: number, salt?: string): PromptPrefix;
  book(replica: number, bytes?: number, salt?: string): Booking;
  outstanding(): ReturnType<typeof outstanding>;
  /** It ends without a word. */
  die(): void;
}

/** Routers that agree, on a clock that the test moves; nothing but their tables is real. */
export class TestRouters {
  readonly clock = new FakeClock();
  readonly all: TestRouter[] = [];
  /** Messages so far, of all routers. */
  readonly messages: string[] = [];
  readonly #listeners = new Set<LinkEvents>();
  readonly #carrier: Carrier;
  /** What each link says of itself: nothing of a store that takes a message at any time. */
  pace: Pick<Link, "waitMs" | "settledMs"> = {};
  /** The store is gone: what is sent is lost, and each router is told. */
  #isGone = false;

  readonly #features: (clock: Clock) => readonly NamedFeature[];
  readonly #log: Log;

  /** `features`: what else each router has, which may have something to tell. */
  constructor(loss = 0, count = 2, features: (clock: Clock) => readonly NamedFeature[] = () => [], log: Log = silentLog) {
    this.#features = features;
    this.#log = log;
    this.#carrier = modelledCarrier({ delayMs: 2, loss }, this.clock, seededRandom(7));
    for (let n = 0; n < count; n++) this.add();
  }

  /** One more router, of the same pool. */
  add(): TestRouter {
    const load = new LoadTable();
    const endpoints = Array.from({ length: REPLICAS }, (_, at) => {
      const slot = load.slotOf(`r${at}`);
      return makeEndpoint(slot, { name: `r${at}`, generation: load.generationOf(slot) });
    });
    const index = new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 20, countGenerated: true, secret: WORDS });
    const pool = { load, prefixIndex: index, tokenScale: new TokenScale() } as unknown as Pool;
    let isMute = false;
    const carrier: Carrier = (channel, events) => {
      this.#listeners.add(events);
      const heard = (message: string) => !this.#isGone && !isMute && events.received(message);
      const link = this.#carrier(channel, { ...events, received: heard });
      const paceNow = () => this.pace;
      return {
        get waitMs() {
          return paceNow().waitMs ?? 0;
        },
        get settledMs() {
          return paceNow().settledMs ?? 0;
        },
        publish: (message) => {
          this.messages.push(message);
          if (!this.#isGone && !isMute) link.publish(message);
        },
        close: () => link.close(),
      };
    };
    const services = { clock: this.clock, random: () => 0.5, log: this.#log };
    const log = new SharedLog({ load, prefixIndex: () => index, control: () => undefined, carrier }, services);
    log.use(
      {
        secret: secretOf(SECRET, "env:S"),
        group: undefined,
        redis: { url: "redis://x", username: undefined, password: undefined },
        nats: undefined,
        kubernetes: undefined,
      },
      "p",
      this.#features(this.clock),
    );
    log.follow(endpoints);
    const prefixOf = (bytes: number, salt = "") =>
      index.match({ api: "chat", target: "base", cacheSalt: salt }, PROMPT, [[0, bytes]], Math.round(bytes / 4));
    const router = {
      log,
      load,
      index,
      endpoints,
      prefixOf,
      book: (replica: number, bytes = 2_000, salt = "") => {
        const request = makeRequest({ isStream: true, promptTokens: Math.round(bytes / 4), prefix: prefixOf(bytes, salt) });
        return new Booking(request, endpoints[replica]!, pool, UNWATCHED, this.clock.now());
      },
      outstanding: () => outstanding({ pool: { load } }),
      die: () => {
        isMute = true;
      },
    };
    this.all.push(router);
    return router;
  }

  storeGone(): void {
    this.#isGone = true;
    for (const events of this.#listeners) events.down("refused");
  }

  storeBack(): void {
    this.#isGone = false;
    for (const events of this.#listeners) events.up();
  }

  /** Every router gets a message with these facts; it is sealed with the secret unless another one is given. */
  say(facts: readonly Fact[], changes: Partial<Batch> = {}, secret = SECRET): void {
    const batch: Batch = {
      ...{ from: "stranger", number: this.messages.length + 1, wallMs: this.clock.wall(), nowMs: this.clock.now() },
      ...{ blockBytes: 64, replicas: this.all[0]!.endpoints.map(({ url }) => url.href), facts },
      ...changes,
    };
    this.deliver(sealed(batch, secret));
  }

  deliver(message: string): void {
    this.messages.push(message);
    for (const events of this.#listeners) events.received(message);
  }
}

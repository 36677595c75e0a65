import type { ReplayOwner, SubscriptionOwner } from "../../../../core/pool/engine-wire.ts";
import { toldAddresses } from "../../../../plugins/features/kv-events/addresses.ts";
import { Publisher } from "../../../../plugins/features/kv-events/publisher.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** A publisher's follower, on a clock that the test moves; what the publisher says is said by the test. */
export class ScriptedPublisher {
  readonly clock = new FakeClock();
  readonly publisher: Publisher;
  readonly replays: { readonly from: number; readonly owner: ReplayOwner; isStopped: boolean }[] = [];
  /** How often its cache was said to be empty. */
  emptied = 0;
  #subscriber: SubscriptionOwner | undefined;

  constructor({ hasReplay = true, blocks = 100_000 } = {}) {
    const sources = JSON.stringify([{ endpoint: "tcp://*:1", replay_endpoint: hasReplay ? "tcp://*:2" : null }]);
    const [address] = toldAddresses(sources, makeEndpoint(0));
    this.publisher = new Publisher({
      ...{ clock: this.clock, random: () => 0.5, address: address!, topic: "", maxMessageBytes: 16 * 2 ** 20 },
      ...{ budget: { left: blocks }, emptied: () => void this.emptied++ },
      wire: {
        subscribe: (_host, owner) => {
          this.#subscriber = owner;
          return { stop() {} };
        },
        replay: (_host, from, owner) => {
          const replay = { from, owner, isStopped: false };
          this.replays.push(replay);
          return () => {
            replay.isStopped = true;
          };
        },
        post() {},
      },
    });
    this.connect();
  }

  connect(): void {
    this.#subscriber!.connected();
  }

  disconnect(): void {
    this.#subscriber!.disconnected("gone");
  }

  publish(sequence: number, payload: Uint8Array): void {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(sequence));
    lend(payload, (lent) => this.#subscriber!.message([Buffer.from("kv"), number, lent]));
  }

  replayed(sequence: number, payload: Uint8Array): void {
    lend(payload, (lent) => this.replays.at(-1)!.owner.replayed(sequence, lent));
  }

  done(): void {
    this.replays.at(-1)!.owner.done();
  }
}

/** As a socket brings it: the bytes are overwritten afterwards. */
function lend(payload: Uint8Array, take: (lent: Uint8Array) => void): void {
  const lent = Uint8Array.from(payload);
  take(lent);
  lent.fill(0xc1);
}

import type { Reply } from "../call.ts";
import { type Exchange, randomHex } from "../exchange.ts";
import type { ReplicaState } from "../state.ts";
import { digestOf } from "../transfer/transfers.ts";
import type { Leg } from "./leg.ts";

/** The prefill leg as in vLLM with NIXL: its prompt's blocks are held, and the response says where. */
export class NixlPrefill implements Leg {
  readonly isPrefillOnly = false;
  readonly #exchange: Exchange;
  readonly #state: ReplicaState;
  readonly #cacheKey: string;

  constructor(exchange: Exchange, state: ReplicaState, cacheKey: string) {
    this.#exchange = exchange;
    this.#state = state;
    this.#cacheKey = cacheKey;
  }

  async prepare(): Promise<boolean> {
    return true;
  }

  async arrive(): Promise<undefined> {}

  async depart(reply: Reply): Promise<void> {
    if (this.#exchange.isOver) return;
    const { transfers, faults } = this.#state;
    const { noTransferParams, dieAfterPrefill } = faults.claim("prefill");
    if (!noTransferParams) reply.transferParams = this.#promise(reply);
    if (dieAfterPrefill === undefined) return;
    let isDead = false;
    // Once the response is out.
    this.#exchange.onEnd(() => {
      if (!isDead) void transfers.die(dieAfterPrefill);
      isDead = true;
    });
  }

  end(): void {}

  /** As vLLM: of several prompts, the response speaks of the first. Null when the cache is too full to hold it. */
  #promise(reply: Reply): object | null {
    const { transfers } = this.#state;
    const { prompt, sent, cachedTokens } = reply.choices[0]!;
    const id = `${reply.id}-${randomHex(8)}`;
    const blocks = transfers.held.hold(id, prompt, this.#cacheKey, digestOf(prompt, this.#cacheKey));
    if (blocks === undefined) return null;
    const { host, port } = transfers.address;
    return {
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_block_ids: [Array.from({ length: blocks }, (_, index) => index + 1)],
      remote_engine_id: transfers.engineId,
      remote_request_id: id,
      remote_host: host,
      remote_port: port,
      tp_size: 1,
      dcp_size: 1,
      pp_size: 1,
      remote_num_tokens: prompt.length + sent - 1,
      remote_blocks_expiry_time: null,
      transfer_mode: "pull",
      remote_prefill_cached_tokens: cachedTokens,
    };
  }
}

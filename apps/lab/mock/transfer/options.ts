/** How two replicas share a request: as vLLM with NIXL, as vLLM behind the reference's side-car, or as SGLang. */
export const TRANSFERS = ["none", "nixl", "side-car", "sglang"] as const;
export const ROLES = ["prefill", "decode", "both"] as const;
export const CHECKS = ["strict", "vllm"] as const;

/** Options of a replica that is one of a pair. */
export interface TransferOptions {
  /** What it may do for others. By default both. */
  readonly role?: (typeof ROLES)[number];
  /** By default "nixl" where there is a role, otherwise "none": parameters of a transfer are ignored. */
  readonly transfer?: (typeof TRANSFERS)[number];
  /**
   * "strict": 400 for blocks that were never promised, are gone or are of another prompt. "vllm": as the real one, which takes what it
   * can and finds nothing wrong, except with an engine that it can't reach.
   */
  readonly transferCheck?: (typeof CHECKS)[number];
  /** How fast a prompt moves. */
  readonly transferTokensPerS?: number;
  /** What every transfer takes besides. */
  readonly transferMs?: number;
  /** What the first transfer between two engines takes besides. */
  readonly handshakeMs?: number;
  /** How long blocks are held, and a room waits for its other side; not changed by `timeScale`. */
  readonly holdMs?: number;
  /** Where other replicas find this one; by default its own address. */
  readonly transferHost?: string;
  /** Another port for SGLang's rooms, which this replica listens on too; 0 for none. */
  readonly bootstrapPort?: number;
}

/**
 * The cache of a 70B model has 320 KB a token, so 400 Gbit/s move 150,000 tokens a second. The fixed part and the handshake were seen on
 * two vLLM 0.32 with NIXL. vLLM 0.32 holds blocks for 30 s (`kv_lease_duration`), SGLang's rooms wait for 300 s.
 */
export function transferSettings(options: TransferOptions): Required<TransferOptions> {
  const transfer = options.transfer ?? (options.role === undefined ? "none" : "nixl");
  return {
    role: options.role ?? "both",
    transfer,
    transferCheck: options.transferCheck ?? "strict",
    transferTokensPerS: options.transferTokensPerS ?? 150_000,
    transferMs: options.transferMs ?? 10,
    handshakeMs: options.handshakeMs ?? 7000,
    holdMs: options.holdMs ?? (transfer === "sglang" ? 300_000 : 30_000),
    transferHost: options.transferHost ?? "",
    bootstrapPort: options.bootstrapPort ?? 0,
  };
}

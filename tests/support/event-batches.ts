import type { EngineBlocks } from "../../plugins/features/kv-events/cache/engine-blocks.ts";

// MessagePack as engines write it, for the tests: what a value needs and no more.

type Value = null | boolean | number | bigint | string | Uint8Array | readonly Value[] | { readonly [key: string]: Value };

/** A number with a fraction in a value stands for a double. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export function pack(value: Value | Double): Buffer {
  if (value instanceof Double) {
    const bytes = Buffer.alloc(9, 0xcb);
    bytes.writeDoubleBE(value.value, 1);
    return bytes;
  }
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "bigint") return whole(value);
  if (typeof value === "number") return value >= 0 && value < 128 ? Buffer.from([value]) : whole(BigInt(value));
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    const head =
      bytes.length < 32 ? Buffer.from([0xa0 | bytes.length]) : Buffer.from([0xda, bytes.length >> 8, bytes.length & 255]);
    return Buffer.concat([head, bytes]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.from([0xc4, value.length]), value]);
  if (Array.isArray(value)) {
    const items = value as readonly Value[];
    return Buffer.concat([head(items.length, 0x90, 0xdc), ...items.map(pack)]);
  }
  const entries = Object.entries(value as { readonly [key: string]: Value });
  return Buffer.concat([head(entries.length, 0x80, 0xde), ...entries.flatMap(([key, inner]) => [pack(key), pack(inner)])]);
}

function head(length: number, short: number, long: number): Buffer {
  return length < 16 ? Buffer.from([short | length]) : Buffer.from([long, length >> 8, length & 255]);
}

function whole(value: bigint): Buffer {
  if (value >= 0n && value < 65_536n) return Buffer.from([0xcd, Number(value >> 8n), Number(value & 255n)]);
  if (value >= 0n && value < 2n ** 32n) {
    const bytes = Buffer.alloc(5, 0xce);
    bytes.writeUInt32BE(Number(value), 1);
    return bytes;
  }
  const bytes = Buffer.alloc(9, value < 0n ? 0xd3 : 0xcf);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value), 1);
  return bytes;
}

/** A batch of events, as a list of a time, the events and a rank. */
export function batch(events: readonly Value[], time = 1.5, rank: number | null = 0): Buffer {
  return Buffer.concat([Buffer.from([0x93]), pack(new Double(time)), pack(events), pack(rank)]);
}

interface Stored {
  readonly hashes: readonly (bigint | Uint8Array)[];
  readonly parent?: bigint | null;
  readonly tokens: readonly number[];
  readonly more?: { readonly [key: string]: Value };
}

/** As newer ones of vLLM. */
export function storedMap({ hashes, parent = null, tokens, more = {} }: Stored): Value {
  return {
    type: "BlockStored",
    block_hashes: hashes,
    parent_block_hash: parent,
    token_ids: tokens,
    block_size: tokens.length / hashes.length,
    lora_id: null,
    medium: "GPU",
    lora_name: null,
    ...more,
  };
}

export function removedMap(hashes: readonly bigint[], medium = "GPU"): Value {
  return { type: "BlockRemoved", block_hashes: hashes, medium };
}

/** As SGLang, and older ones of vLLM. */
export function storedList({ hashes, parent = null, tokens }: Stored): Value {
  return ["BlockStored", hashes, parent, tokens, tokens.length / hashes.length, null, "GPU"];
}

export const CLEARED: Value = { type: "AllBlocksCleared" };

/** Token ids from `first` on. */
export function tokensFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

/** Has all of a batch read at once. Returns its time. */
export function take(blocks: EngineBlocks, payload: Uint8Array): number {
  const time = blocks.begin(payload);
  blocks.takeOn(Number.POSITIVE_INFINITY);
  return time;
}

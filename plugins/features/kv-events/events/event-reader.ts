import { BlockHash } from "./block-hash.ts";
import { MessagePack } from "./message-pack.ts";
import { MOST_BLOCKS, StoredBlocks } from "./stored-blocks.ts";
import { Words } from "./words.ts";

/** Where an engine has a block: in the accelerator's memory, or beside it, from where it is loaded. */
export const ON_GPU = 1;
export const ON_CPU = 2;

export interface EventSink {
  /** `stored` is used again for the next event. */
  stored(stored: StoredBlocks, medium: number): void;
  removed(low: number, high: number, medium: number): void;
  cleared(): void;
}

/** Of one event, and of one block: what has more has blocks that nobody can name. */
const MOST_TOKENS = 2 ** 20;
const MOST_GROUPS = 2 ** 16;
/** The tokens of the event that is read. One list for all engines: an event is read in one go. */
let tokens = new Int32Array(8_192);
/** Extra members of a block's key may be lists themselves. */
const MOST_DEPTH = 4;

// Numbers of the fields that are read, in the order in which lists have them.
const [HASHES, PARENT, TOKENS, SIZE, LORA_ID, MEDIUM, LORA_NAME, EXTRAS, GROUP, KIND] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const STORED_FIELDS = [
  "block_hashes",
  "parent_block_hash",
  "token_ids",
  "block_size",
  "lora_id",
  "medium",
  "lora_name",
  "extra_keys",
  "group_idx",
  "kv_cache_spec_kind",
];
const STORED_LIST = [HASHES, PARENT, TOKENS, SIZE, LORA_ID, MEDIUM, LORA_NAME, EXTRAS, GROUP, KIND];
const REMOVED_LIST = [HASHES, MEDIUM, GROUP];

/** The number that the key of an event's type has among a map's keys. */
const TYPE = STORED_FIELDS.length;
const KEYS = new Words([...STORED_FIELDS, "type"]);

const TYPES = new Words(["BlockStored", "BlockRemoved", "AllBlocksCleared"]);
const [STORED, REMOVED, CLEARED] = [0, 1, 2];

/** Of each name the medium that it stands for. What others may share, or nobody knows, stands for none. */
const MEDIA = [ON_GPU, ON_GPU, ON_GPU, ON_CPU, ON_CPU, ON_CPU];
const MEDIUM_NAMES = new Words(["GPU", "gpu", "XPU", "CPU", "CPU_PINNED", "cpu"]);

/** Of layers that keep all tokens. */
const FULL_KINDS = new Words(["full_attention", "mla_attention", "full", "mla"]);

/**
 * Reads the batches that vLLM and SGLang publish: a list of a time, events and a rank. An event is a map with its type, as in newer ones of
 * vLLM, or a list that begins with it. Of several groups of layers it follows the first one that keeps all tokens.
 */
export class EventReader {
  readonly #sink: EventSink;
  readonly #pack = new MessagePack();
  readonly #hash = new BlockHash();
  readonly #stored = new StoredBlocks();
  /** Events of the batch that have not been read. */
  #left = 0;
  /** Of the event that is read; 0 if it does not say. */
  #tokenCount = 0;
  /** The group of layers whose blocks are followed; undefined before the first one, or where events name none. */
  #group: number | undefined;
  // Of the event that is read: where its parts are, or -1.
  readonly #at = new Int32Array(STORED_FIELDS.length);

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** Begins a batch, which must stay as it is until all is read. Throws a RangeError for what is none. Returns its time, in seconds. */
  begin(payload: Uint8Array): number {
    const pack = this.#pack;
    this.#left = 0;
    pack.use(payload);
    const members = pack.list();
    if (members < 2) throw new RangeError("a batch of events has two members at least");
    const time = timeOf(payload, pack);
    this.#left = pack.list();
    return time;
  }

  /**
   * Reads on, whole events of so many bytes and one more. Returns whether all is read. Throws a RangeError for what is no event; what is
   * read before it is told.
   */
  readOn(bytes: number): boolean {
    const end = this.#pack.at + bytes;
    for (; this.#left > 0; this.#left--) {
      if (this.#pack.at > end) return false;
      this.#event();
    }
    return true;
  }

  /** The engine is another process now. */
  restarted(): void {
    this.#group = undefined;
  }

  #event(): void {
    const pack = this.#pack;
    const isMap = pack.isMap();
    this.#at.fill(-1);
    this.#tokenCount = 0;
    const type = isMap ? this.#mapPlaces() : this.#listPlaces();
    const end = pack.at;
    if (type === CLEARED) this.#sink.cleared();
    else if (type === STORED) this.#tellStored();
    else if (type === REMOVED) this.#tellRemoved();
    pack.at = end;
  }

  /** Finds where the fields are, and passes over the event. Returns its type; -1 for one that is not known. */
  #mapPlaces(): number {
    const pack = this.#pack;
    let type = -1;
    for (let left = pack.map(); left > 0; left--) {
      const key = pack.word(KEYS);
      if (key === TYPE) type = pack.word(TYPES);
      else {
        if (key >= 0) this.#at[key] = pack.at;
        if (key === TOKENS) this.#takeTokens();
        else pack.skip();
      }
    }
    return type;
  }

  #listPlaces(): number {
    const pack = this.#pack;
    const members = pack.list();
    if (members === 0) throw new RangeError("an event has no type");
    const type = pack.word(TYPES);
    const fields = type === REMOVED ? REMOVED_LIST : STORED_LIST;
    for (let i = 0; i < members - 1; i++) {
      const field = fields[i];
      if (field !== undefined) this.#at[field] = pack.at;
      if (field === TOKENS) this.#takeTokens();
      else pack.skip();
    }
    return type;
  }

  /** They are most of an event, so they are read where they are passed. */
  #takeTokens(): void {
    const pack = this.#pack;
    const { at } = pack;
    const count = pack.isList() ? pack.list() : 0;
    if (count === 0 || count > MOST_TOKENS) {
      pack.at = at;
      return pack.skip();
    }
    if (count > tokens.length) tokens = new Int32Array(2 ** Math.ceil(Math.log2(count)));
    pack.numbers(count, tokens);
    this.#tokenCount = count;
  }

  #tellStored(): void {
    const medium = this.#medium();
    const size = this.#go(SIZE) ? this.#pack.count(MOST_TOKENS) : 0;
    if (medium === 0 || !this.#isFollowed(true) || !this.#go(HASHES)) return;
    const pack = this.#pack;
    const stored = this.#stored;
    const count = pack.list();
    if (count === 0) return;
    if (count > MOST_BLOCKS) throw new RangeError(`an event has more than ${MOST_BLOCKS} blocks`);
    stored.begin(count);
    pack.digests(count, stored.hashes);
    if (this.#go(PARENT)) {
      pack.digest();
      stored.hasParent = true;
      stored.parentLow = pack.low;
      stored.parentHigh = pack.high;
    }
    if (this.#readExtras()) this.#readTokens(size);
    this.#sink.stored(stored, medium);
  }

  #tellRemoved(): void {
    const medium = this.#medium();
    if (medium === 0 || !this.#isFollowed(false) || !this.#go(HASHES)) return;
    const pack = this.#pack;
    for (let left = pack.list(); left > 0; left--) {
      pack.digest();
      this.#sink.removed(pack.low, pack.high, medium);
    }
  }

  /**
   * The hash of each block's tokens. Where they are not as many as the blocks have, it can't be said which are whose. `size`: the tokens of a
   * block by the event; 0 if it does not say.
   */
  #readTokens(size: number): void {
    const hash = this.#hash;
    const stored = this.#stored;
    const each = this.#tokenCount / stored.count;
    if (!Number.isInteger(each) || each === 0 || (size !== 0 && size !== each)) return;
    for (let i = 0; i < stored.count; i++) {
      hash.begin();
      hash.addAll(tokens, i * each, each);
      stored.tokens[2 * i] = hash.low;
      stored.tokens[2 * i + 1] = hash.high;
    }
    stored.blockTokens = each;
  }

  /** False if blocks depend on something that the event does not say. */
  #readExtras(): boolean {
    const pack = this.#pack;
    const hash = this.#hash;
    const stored = this.#stored;
    if (this.#go(EXTRAS)) {
      const lists = pack.list();
      if (lists !== stored.count) return false;
      for (let i = 0; i < lists; i++) {
        if (pack.nil()) continue;
        hash.begin();
        this.#addExtra(MOST_DEPTH);
        stored.extras[2 * i] = hash.low;
        stored.extras[2 * i + 1] = hash.high;
      }
      return true;
    }
    if (!this.#go(LORA_NAME)) return !this.#go(LORA_ID);
    hash.begin();
    hash.add(1);
    hash.addBytes(pack.content());
    for (let i = 0; i < stored.count; i++) {
      stored.extras[2 * i] = hash.low;
      stored.extras[2 * i + 1] = hash.high;
    }
    return true;
  }

  #addExtra(depth: number): void {
    const pack = this.#pack;
    const hash = this.#hash;
    if (pack.isText() || pack.isBytes()) hash.addBytes(pack.content());
    else if (pack.isNumber()) {
      pack.number();
      hash.add(pack.low);
      hash.add(pack.high);
    } else if (pack.isList() && depth > 0) {
      const members = pack.list();
      hash.add(members);
      for (let i = 0; i < members; i++) this.#addExtra(depth - 1);
    } else pack.skip();
  }

  /** 0 for a medium that other replicas may share, or that is not known. An event without one is of the accelerator. */
  #medium(): number {
    if (!this.#go(MEDIUM)) return ON_GPU;
    return MEDIA[this.#pack.word(MEDIUM_NAMES)] ?? 0;
  }

  /** Windows and states of layers are no prefixes. */
  #isFollowed(isStored: boolean): boolean {
    const group = this.#go(GROUP) ? this.#pack.count(MOST_GROUPS) : undefined;
    if (group === undefined) return true;
    if (isStored && this.#group === undefined) {
      if (this.#go(KIND) && this.#pack.word(FULL_KINDS) < 0) return false;
      this.#group = group;
    }
    return group === this.#group;
  }

  /** Goes to a field; false if the event does not have it, or nil in it. */
  #go(field: number): boolean {
    const at = this.#at[field]!;
    if (at < 0) return false;
    this.#pack.at = at;
    return !this.#pack.nil();
  }
}

function timeOf(payload: Uint8Array, pack: MessagePack): number {
  const isDouble = pack.type === 0xcb && pack.left >= 9;
  const time = isDouble ? new DataView(payload.buffer, payload.byteOffset + pack.at + 1, 8).getFloat64(0) : Number.NaN;
  pack.skip();
  return time;
}

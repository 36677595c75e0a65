import type { Clock } from "../../../../core/contract/clock.ts";

/** Rooms that are over, kept so that none is used twice. */
const MAX_REMEMBERED = 4096;
/** Rooms with one or two sides in them. */
const MAX_OPEN = 4096;

type Side = "prefill" | "decode";

/** Where a prefill and a decode leg meet. */
class Room {
  readonly sides = new Map<Side, string>();
  /** Resolves when both sides are there, when the prompt is computed, and when its blocks have moved. All reject when the room fails. */
  readonly met = deferred();
  readonly computed = deferred();
  readonly moved = deferred();

  fail(reason: string): void {
    for (const step of [this.met, this.computed, this.moved]) step.reject(new Error(reason));
  }
}

/** One side's place in a room. */
export interface Place {
  readonly met: Promise<void>;
  readonly computed: Promise<void>;
  readonly moved: Promise<void>;
  /** For the prefill side: its prompt is computed. */
  setComputed(): void;
  /** For the decode side: it has the blocks. The room is over. */
  setMoved(): void;
  /** This side leaves; unless the blocks have moved, the other side fails. */
  leave(reason: string): void;
}

/** SGLang's rooms, on the prefill replica: a room joins one prefill leg and one decode leg, once. */
export class Rooms {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #onChange: () => void;
  readonly #open = new Map<string, Room>();
  readonly #over = new Set<string>();

  constructor(clock: Clock, waitMs: number, onChange: () => void) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#onChange = onChange;
  }

  /** Rooms with a leg in them. */
  get count(): number {
    return this.#open.size;
  }

  /** Takes a side of a room. Returns a text that says why it can't. */
  enter(id: string, side: Side, digest: string): Place | string {
    if (this.#over.has(id)) return `The room ${id} was used already: every pair of legs needs a new one.`;
    if (this.#open.size >= MAX_OPEN && !this.#open.has(id)) return `${MAX_OPEN} rooms are open.`;
    const room = this.#open.get(id) ?? new Room();
    if (room.sides.has(side)) return `The ${side} side of room ${id} is taken.`;
    room.sides.set(side, digest);
    const [other = digest] = room.sides.values();
    if (other !== digest) {
      this.#end(id, room, "The legs have different prompts.");
      return `The legs of room ${id} have different prompts.`;
    }
    this.#open.set(id, room);
    const cancel = this.#clock.after(this.#waitMs, () => {
      if (room.sides.size < 2) this.#end(id, room, `Nobody joined room ${id} in time.`);
    });
    if (room.sides.size === 2) room.met.resolve();
    this.#onChange();
    return this.#place(id, room, cancel);
  }

  /** All rooms fail, as when the process has died. */
  clear(): void {
    for (const [id, room] of this.#open) this.#end(id, room, "The prefill replica has ended.");
    this.#over.clear();
  }

  #place(id: string, room: Room, cancel: () => void): Place {
    void room.met.promise.then(cancel, cancel);
    return {
      met: room.met.promise,
      computed: room.computed.promise,
      moved: room.moved.promise,
      setComputed: () => room.computed.resolve(),
      setMoved: () => {
        room.moved.resolve();
        this.#end(id, room, "");
      },
      leave: (reason) => this.#end(id, room, reason),
    };
  }

  #end(id: string, room: Room, reason: string): void {
    if (this.#open.get(id) !== room) return;
    this.#open.delete(id);
    this.#over.add(id);
    const [oldest] = this.#over;
    if (this.#over.size > MAX_REMEMBERED && oldest !== undefined) this.#over.delete(oldest);
    room.fail(reason);
    this.#onChange();
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** A promise whose rejection nobody has to wait for. */
function deferred(): Deferred {
  let settle!: Omit<Deferred, "promise">;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...settle };
}

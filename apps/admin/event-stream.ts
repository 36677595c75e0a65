import type { Clock } from "../../core/contract/clock.ts";

/** With so many bytes waiting for its reader, a stream drops events. */
const HIGH_WATER_BYTES = 64 * 1024;
/** More than a reader can follow. Without this bound, a fast reader would take the time of the router's requests. */
const MOST_EVENTS_PER_S = 1_000;
/** After so long without a read, nobody reads any more. */
const STALLED_MS = 60_000;
/** How long a client should wait before it connects again after the end, in milliseconds. */
const RETRY_MS = 2_000;

const UTF8 = new TextEncoder();

/**
 * Server-sent events for one reader (HTML standard, 9.2). It holds at most 64 KiB and one event for a reader that takes nothing;
 * what does not fit is dropped, and an event `dropped` with a `count` stands in its place.
 */
export class EventStream {
  /** Its bytes; cancelling it ends the stream. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #clock: Clock;
  readonly #ended: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #isOver = false;
  /** Events dropped since the last notice. */
  #dropped = 0;
  #readAtMs: number;
  #secondBeganMs = Number.NEGATIVE_INFINITY;
  #eventsInSecond = 0;

  /** `ended` is called once, however it ends. */
  constructor(clock: Clock, ended: () => void) {
    this.#clock = clock;
    this.#ended = ended;
    this.#readAtMs = clock.now();
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pulled(),
        cancel: () => this.#over(),
      },
      { highWaterMark: HIGH_WATER_BYTES, size: (bytes) => bytes.byteLength },
    );
    this.#write(`retry: ${RETRY_MS}\n: listening\n\n`);
  }

  /** Sends one event, or drops it; `make` returns its data. */
  send(make: () => string): void {
    if (this.#isOver) return;
    if (!this.#hasRoom || this.#isTooFast()) {
      this.#dropped += 1;
      return;
    }
    const data = make();
    this.#tellDropped();
    this.#write(eventOf("message", data));
  }

  /** Sends a comment, so that neither side takes a quiet connection for a dead one. Ends the stream if nobody reads it. */
  keepAlive(): void {
    if (this.#isOver) return;
    if (this.#hasRoom) {
      this.#tellDropped();
      this.#write(": still here\n\n");
    } else if (this.#clock.now() - this.#readAtMs >= STALLED_MS) {
      this.#controller.error(new Error("Nobody read the events for too long"));
      this.#over();
    }
  }

  /** Ends it after what is already sent. */
  end(): void {
    if (this.#isOver) return;
    this.#tellDropped();
    this.#controller.close();
    this.#over();
  }

  get #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  #isTooFast(): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - this.#secondBeganMs >= 1_000) {
      this.#secondBeganMs = nowMs;
      this.#eventsInSecond = 0;
    }
    this.#eventsInSecond += 1;
    return this.#eventsInSecond > MOST_EVENTS_PER_S;
  }

  /** The reader has taken something. */
  #pulled(): void {
    this.#readAtMs = this.#clock.now();
    if (!this.#isOver) this.#tellDropped();
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    const count = this.#dropped;
    this.#dropped = 0;
    this.#write(eventOf("dropped", JSON.stringify({ count })));
  }

  #write(text: string): void {
    this.#controller.enqueue(UTF8.encode(text));
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended();
  }
}

/** "message" is what an event without a name is. */
function eventOf(name: string, data: string): string {
  const nameLine = name === "message" ? "" : `event: ${name}\n`;
  return `${nameLine}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}

import { DEFAULT_WINDOW, FLAG, FRAME_HEAD_BYTES, frameHead, putFrameHead, TYPE } from "./frames.ts";
import { ReceiveWindow } from "./receive-window.ts";

/** What the peer takes, as a stream needs it. */
interface Windows {
  /** Bytes of data on all streams together. */
  connection: number;
  /** On each stream, before the peer widens its window. */
  readonly initial: number;
  /** Largest payload of a frame. */
  readonly maxFrameBytes: number;
  readonly waiting: Waiting;
}

/** Is told which streams can't send what they have, or should not. */
interface Waiting {
  wait(stream: Http2Stream, hasOwnWindow: boolean): void;
  sent(stream: Http2Stream): void;
  pause(stream: Http2Stream): void;
  goOn(stream: Http2Stream): void;
}

/** What a stream needs of its connection. */
export interface StreamConnection {
  readonly windows: Windows;
  /** Whether so much waits for the peer that nothing should be added. */
  readonly isFull: boolean;
  readonly budget: { sentPiece(): void };
  write(bytes: Buffer): void;
  /** Nothing more is sent on the stream. */
  localEnd(stream: Http2Stream): void;
}

/** Is told how much more, or less, streams hold back. */
export interface UnsentCounter {
  change(bytes: number): void;
}

/** Who reads a stream. */
export interface StreamReader {
  /** Bytes chunk[start, end), which are overwritten once this returns. */
  data(chunk: Buffer, start: number, end: number): void;
  /** The peer has sent everything. */
  ended(): void;
  /** The peer, or its connection, has gone: nothing can be sent any more. */
  gone(): void;
  /** After `send` returned false: there is room again. */
  drained(): void;
}

/** Room in front of data for a frame's head, so that most data need no copy for it. */
export const HEADROOM = FRAME_HEAD_BYTES;
/** With so many bytes waiting for the peer's window, a stream asks for a pause. */
const HIGH_WATER_BYTES = 64 * 1024;

/** One stream of a connection, as the server has it: what it sends waits here for the peer's windows. */
export class Http2Stream {
  readonly id: number;
  reader: StreamReader | undefined;
  readonly window = new ReceiveWindow(DEFAULT_WINDOW);
  /** Nothing is given back: the peer must wait. */
  isHeld = false;
  isRemoteEnded = false;
  /** Whether anything was sent. */
  isServed = false;
  /** All bytes of data that the peer's windows took. */
  sentBytes = 0;
  readonly #connection: StreamConnection;
  readonly #unsent: UnsentCounter;
  /** What the peer has added to the initial window, less what was sent. */
  #aheadBytes = 0;
  /** Bytes of data that must still come; negative if the peer has not said how many. */
  #missingBytes: number;
  /** What waits for the windows; each is data without a frame's head. */
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Follow the data: a header block. */
  #trailers: Buffer | undefined;
  #isLocalEnded = false;
  #isFull = false;

  /** `contentLength`: how much data the peer says that it will send; -1 if it does not say. */
  constructor(id: number, connection: StreamConnection, contentLength: number, unsent: UnsentCounter) {
    this.id = id;
    this.#connection = connection;
    this.#unsent = unsent;
    this.#missingBytes = contentLength;
  }

  /** Bytes that wait for the peer's windows. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get aheadBytes(): number {
    return this.#aheadBytes;
  }

  /** Bytes of data came, perhaps the last ones. False if they are not as many as the peer has said. */
  received(bytes: number, isEnd: boolean): boolean {
    if (this.#missingBytes < 0) return true;
    this.#missingBytes -= bytes;
    return isEnd ? this.#missingBytes === 0 : this.#missingBytes >= 0;
  }

  /** Sends a header block before any data. */
  headers(block: Buffer): void {
    this.isServed = true;
    this.#connection.write(frameHead(TYPE.headers, FLAG.endHeaders, this.id, block.length));
    this.#connection.write(block);
  }

  /** Sends what stands in `framed` behind HEADROOM bytes; the buffer is the stream's from now on. False when the caller should wait. */
  send(framed: Buffer): boolean {
    if (this.#isLocalEnded || this.#trailers !== undefined) return true;
    const bytes = framed.length - HEADROOM;
    if (this.#queue.length === 0 && bytes <= this.#room) {
      putFrameHead(framed, 0, TYPE.data, 0, this.id, bytes);
      this.#took(bytes);
      this.#connection.write(framed);
      this.#connection.budget.sentPiece();
    } else {
      this.#queue.push(framed.subarray(HEADROOM));
      this.#queuedBytes += bytes;
      this.#unsent.change(bytes);
      this.pump();
    }
    this.#isFull = this.#queuedBytes >= HIGH_WATER_BYTES || this.#connection.isFull;
    if (this.#isFull) this.#connection.windows.waiting.pause(this);
    return !this.#isFull;
  }

  /** Ends the stream with a header block once all data are sent. */
  end(trailers: Buffer): void {
    if (this.#isLocalEnded) return;
    this.#trailers ??= trailers;
    this.pump();
  }

  /** The peer takes so many more bytes. Returns how many it takes now. */
  widen(bytes: number): number {
    this.#aheadBytes += bytes;
    return this.#connection.windows.initial + this.#aheadBytes;
  }

  /** Sends what the windows allow. */
  pump(): void {
    while (this.#queue.length > 0 && this.#room > 0) {
      const first = this.#queue[0]!;
      const part = first.length <= this.#room ? first : first.subarray(0, this.#room);
      if (part.length === first.length) {
        this.#queue.shift();
        this.#connection.budget.sentPiece();
      } else this.#queue[0] = first.subarray(part.length);
      this.#queuedBytes -= part.length;
      this.#unsent.change(-part.length);
      this.#connection.write(frameHead(TYPE.data, 0, this.id, part.length));
      this.#connection.write(part);
      this.#took(part.length);
    }
    if (this.#queue.length > 0) return this.#connection.windows.waiting.wait(this, this.#ownWindow > 0);
    this.#connection.windows.waiting.sent(this);
    const trailers = this.#trailers;
    if (trailers === undefined || this.#isLocalEnded) return;
    this.#isLocalEnded = true;
    this.#connection.write(frameHead(TYPE.headers, FLAG.endHeaders | FLAG.endStream, this.id, trailers.length));
    this.#connection.write(trailers);
    this.#connection.localEnd(this);
  }

  /** The peer has taken bytes: says so to the reader if it waits for that. */
  relieve(): void {
    if (!this.#isFull || this.#queuedBytes >= HIGH_WATER_BYTES || this.#connection.isFull) return;
    this.#isFull = false;
    this.#connection.windows.waiting.goOn(this);
    this.reader?.drained();
  }

  /** The peer has gone, or is told so: what waits for it is dropped. */
  close(): void {
    this.#isLocalEnded = true;
    this.#queue.length = 0;
    this.#unsent.change(-this.#queuedBytes);
    this.#queuedBytes = 0;
    this.reader?.gone();
  }

  get #ownWindow(): number {
    return this.#connection.windows.initial + this.#aheadBytes;
  }

  get #room(): number {
    return Math.min(this.#ownWindow, this.#connection.windows.connection, this.#connection.windows.maxFrameBytes);
  }

  #took(bytes: number): void {
    this.sentBytes += bytes;
    this.#aheadBytes -= bytes;
    this.#connection.windows.connection -= bytes;
  }
}

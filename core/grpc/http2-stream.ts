import { DEFAULT_WINDOW, FLAG, FRAME_HEAD_BYTES, frameHead, putFrameHead, TYPE } from "./frames.ts";
import { ReceiveWindow } from "./receive-window.ts";

/** What a stream needs of its connection. */
export interface StreamConnection {
  /** Bytes of data that the peer takes now on all streams together. */
  sendWindow: number;
  /** Largest payload of a frame to the peer. */
  readonly maxFrameBytes: number;
  /** Whether so much waits for the peer that nothing should be added. */
  readonly isFull: boolean;
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
  /** All bytes of data that the peer's windows took. */
  sentBytes = 0;
  readonly #connection: StreamConnection;
  readonly #unsent: UnsentCounter;
  #sendWindow: number;
  /** What waits for the windows; each is data without a frame's head. */
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Follow the data: a header block. */
  #trailers: Buffer | undefined;
  #isLocalEnded = false;
  #isFull = false;

  constructor(id: number, connection: StreamConnection, sendWindow: number, unsent: UnsentCounter) {
    this.id = id;
    this.#connection = connection;
    this.#unsent = unsent;
    this.#sendWindow = sendWindow;
  }

  /** Bytes that wait for the peer's windows. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Sends a header block before any data. */
  headers(block: Buffer): void {
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
    } else {
      this.#queue.push(framed.subarray(HEADROOM));
      this.#queuedBytes += bytes;
      this.#unsent.change(bytes);
      this.pump();
    }
    this.#isFull = this.#queuedBytes >= HIGH_WATER_BYTES || this.#connection.isFull;
    return !this.#isFull;
  }

  /** Ends the stream with a header block once all data are sent. */
  end(trailers: Buffer): void {
    if (this.#isLocalEnded) return;
    this.#trailers ??= trailers;
    this.pump();
  }

  /** The peer takes so many more bytes; fewer, where it has changed its mind. */
  widen(bytes: number): number {
    this.#sendWindow += bytes;
    return this.#sendWindow;
  }

  /** Sends what the windows allow. */
  pump(): void {
    while (this.#queue.length > 0 && this.#room > 0) {
      const first = this.#queue[0]!;
      const part = first.length <= this.#room ? first : first.subarray(0, this.#room);
      if (part.length === first.length) this.#queue.shift();
      else this.#queue[0] = first.subarray(part.length);
      this.#queuedBytes -= part.length;
      this.#unsent.change(-part.length);
      this.#connection.write(frameHead(TYPE.data, 0, this.id, part.length));
      this.#connection.write(part);
      this.#took(part.length);
    }
    const trailers = this.#trailers;
    if (this.#queue.length > 0 || trailers === undefined || this.#isLocalEnded) return;
    this.#isLocalEnded = true;
    this.#connection.write(frameHead(TYPE.headers, FLAG.endHeaders | FLAG.endStream, this.id, trailers.length));
    this.#connection.write(trailers);
    this.#connection.localEnd(this);
  }

  /** The peer has taken bytes: says so to the reader if it waits for that. */
  relieve(): void {
    if (!this.#isFull || this.#queuedBytes >= HIGH_WATER_BYTES || this.#connection.isFull) return;
    this.#isFull = false;
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

  get #room(): number {
    return Math.min(this.#sendWindow, this.#connection.sendWindow, this.#connection.maxFrameBytes);
  }

  #took(bytes: number): void {
    this.sentBytes += bytes;
    this.#sendWindow -= bytes;
    this.#connection.sendWindow -= bytes;
  }
}

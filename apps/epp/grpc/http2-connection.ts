import type { Socket } from "node:net";
import { FrameTurns } from "./frame-turns.ts";
import * as frames from "./frames.ts";
import { CODE, ConnectionError, FLAG, TYPE } from "./frames.ts";
import { HeaderBlock, unpadded } from "./header-block.ts";
import type { Field } from "./header-table.ts";
import { HeaderDecoder } from "./hpack.ts";
import { FULL_BYTES, type Http2Options, OVERFULL_BYTES, ownSettings, RECEIVE_WINDOW } from "./http2-options.ts";
import { Http2Stream, type StreamConnection } from "./http2-stream.ts";
import { OpenStreams } from "./open-streams.ts";
import { OutQueue } from "./out-queue.ts";
import { PeerBudget } from "./peer-budget.ts";
import { ReceiveWindow } from "./receive-window.ts";
import { areTrailers, requestHead } from "./request-headers.ts";
import { SendWindows } from "./send-windows.ts";

/** The server's end of an HTTP/2 connection (RFC 9113) without TLS, with prior knowledge; it pushes nothing. */
export class Http2Connection implements StreamConnection {
  readonly windows: SendWindows;
  readonly #options: Http2Options;
  readonly #socket: Socket;
  readonly #reader: FrameTurns;
  readonly #decoder: HeaderDecoder;
  readonly #block: HeaderBlock;
  readonly #streams: OpenStreams;
  readonly budget: PeerBudget;
  /** The last one that was accepted, as GOAWAY tells. */
  #lastStream = 0;
  readonly #window = new ReceiveWindow(RECEIVE_WINDOW);
  #isDraining = false;
  /** Nothing more is said; the peer should close the connection now. */
  #isEnding = false;
  #isClosed = false;
  readonly #out: OutQueue;

  /** `socket` is paused. */
  constructor(socket: Socket, options: Http2Options) {
    this.#options = options;
    this.#streams = new OpenStreams(options.maxStreams);
    this.budget = new PeerBudget(options.nowMs);
    this.windows = new SendWindows(this.#streams, this.budget);
    this.#decoder = new HeaderDecoder(2 * options.headBytes);
    this.#block = new HeaderBlock(options.headBytes);
    this.#reader = new FrameTurns(this, socket, (chunk) => this.#read(chunk));
    this.#socket = this.#reader.socket;
    this.#out = new OutQueue(this.#socket);
    this.#socket.on("drain", () => this.windows.waiting.relieve());
    this.#socket.on("error", () => this.#close());
    this.#socket.on("close", () => this.#close());
    this.write(ownSettings(options));
  }

  /** Whether the client has begun as one of HTTP/2 does. */
  get hasPreface(): boolean {
    return this.#reader.hasPreface;
  }

  get isFull(): boolean {
    return this.#socket.writableLength > FULL_BYTES;
  }

  /** Bytes that wait for the peer's socket. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Streams that have something to send and may not. */
  get waiting(): Iterable<Http2Stream> {
    return this.windows.waiting;
  }

  /** Whether the peer is in the middle of a step that it should end soon: of a header block, or of closing the connection. */
  get isMidStep(): boolean {
    return this.#isEnding || this.#block.openStream !== 0;
  }

  /** Ends a stream whose peer takes nothing. */
  abandon(stream: Http2Stream): void {
    this.#reset(stream, CODE.cancel);
    this.#out.flush();
  }

  /** Takes no more streams; ends once those under way have. */
  drain(code: number = CODE.none): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.write(frames.numbersFrame(TYPE.goaway, 0, [this.#lastStream, code]));
    this.#endIfIdle();
  }

  destroy(): void {
    this.#out.flush();
    this.#close();
  }

  write(bytes: Buffer): void {
    if (!this.#isEnding && !this.#isClosed) this.#out.push(bytes);
  }

  localEnd(stream: Http2Stream): void {
    this.budget.served();
    if (!stream.isRemoteEnded) this.write(frames.numbersFrame(TYPE.rstStream, stream.id, [CODE.none]));
    this.#forget(stream);
  }

  /** The stream's reader takes no more bytes for now, or goes on. */
  hold(stream: Http2Stream, isHeld: boolean): void {
    stream.isHeld = isHeld;
    if (!isHeld && this.#streams.get(stream.id) === stream) this.#renew(stream.id, stream.window);
  }

  #read(chunk: Buffer): void {
    if (this.#isEnding || this.#isClosed) return;
    try {
      this.#reader.push(chunk);
      this.windows.sendMore();
    } catch (thrown) {
      if (!(thrown instanceof ConnectionError)) throw thrown;
      return this.#fail(thrown.code);
    }
    this.#out.flush();
    if (this.#socket.writableLength > OVERFULL_BYTES) this.#fail(CODE.enhanceYourCalm);
  }

  frame(type: number, flags: number, id: number, chunk: Buffer, start: number, end: number): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#block.checkNext(type, id);
    if (type !== TYPE.data && type !== TYPE.headers && type !== TYPE.rstStream) this.budget.frame();
    switch (type) {
      case TYPE.data:
        return this.#data(flags, id, chunk, start, end);
      case TYPE.headers:
        this.#block.begin(flags, id, chunk, start, end);
        return this.#headers(flags);
      case TYPE.continuation:
        this.#block.add(chunk, start, end);
        return this.#headers(flags);
      case TYPE.rstStream:
        return this.#wasReset(id);
      case TYPE.settings:
        return this.#settings(flags, chunk, start, end);
      case TYPE.ping:
        return this.#ping(flags, chunk, start, end);
      case TYPE.windowUpdate:
        return this.#widen(id, chunk.readUInt32BE(start) & 0x7fff_ffff);
      case TYPE.goaway:
        return this.drain();
      // PRIORITY says nothing any more (RFC 9113, 5.3.2), and what is not known is to be ignored (5.5).
    }
  }

  #data(flags: number, id: number, chunk: Buffer, start: number, end: number): void {
    const bytes = end - start;
    if (!this.#window.took(bytes)) throw new ConnectionError(CODE.flowControl, "More data than the connection's window");
    this.#renew(0, this.#window);
    const [from, to] = unpadded(flags, chunk, start, end);
    const isEnd = (flags & FLAG.endStream) !== 0;
    if (from === to && !isEnd) this.budget.frame();
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#streams.checkLate(id, isEnd);
    if (stream.isRemoteEnded) return this.#resetByFault(stream, CODE.streamClosed);
    if (!stream.window.took(bytes)) return this.#resetByFault(stream, CODE.flowControl);
    if (!stream.received(to - from, isEnd)) return this.#resetByFault(stream, CODE.protocol);
    stream.isRemoteEnded = isEnd;
    if (to > from) stream.reader?.data(chunk, from, to);
    if (isEnd) stream.reader?.ended();
    else if (!stream.isHeld && this.#streams.get(id) === stream) this.#renew(id, stream.window);
  }

  #headers(flags: number): void {
    if ((flags & FLAG.endHeaders) === 0) return;
    const id = this.#block.openStream;
    const fields = this.#decoder.decode(this.#block.take());
    const { isEnd } = this.#block;
    const known = this.#streams.get(id);
    if (known !== undefined) return this.#trailers(known, fields, isEnd);
    if (!this.#streams.begin(id, isEnd)) return this.budget.frame();
    if (this.#isDraining || this.#streams.size >= this.#options.maxStreams) {
      this.budget.frame();
      return this.#refuse(id, isEnd, CODE.refused);
    }
    this.#lastStream = id;
    const head = requestHead(fields);
    if (head === undefined || (isEnd && head.contentLength > 0)) {
      this.#refuse(id, isEnd, CODE.protocol);
      return this.#wasted();
    }
    const stream = new Http2Stream(id, this, head.contentLength, this.#options.unsent);
    stream.isRemoteEnded = isEnd;
    this.#streams.add(stream);
    stream.reader = this.#options.accept(head.path, stream);
    if (isEnd) stream.reader.ended();
  }

  /** They say nothing in a call. */
  #trailers(stream: Http2Stream, fields: readonly Field[], isEnd: boolean): void {
    if (stream.isRemoteEnded) return this.#resetByFault(stream, CODE.streamClosed);
    if (!isEnd || !areTrailers(fields) || !stream.received(0, true)) return this.#resetByFault(stream, CODE.protocol);
    stream.isRemoteEnded = true;
    stream.reader?.ended();
  }

  #refuse(id: number, isEnd: boolean, code: number): void {
    this.write(frames.numbersFrame(TYPE.rstStream, id, [code]));
    this.#streams.end(id, !isEnd);
  }

  #wasReset(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isServed) this.budget.frame();
    if (stream === undefined) {
      this.#streams.checkBegun(id);
      return this.#streams.end(id, false);
    }
    if (!stream.isServed) this.#wasted();
    stream.isRemoteEnded = true;
    this.#forget(stream);
    stream.close();
  }

  #resetByFault(stream: Http2Stream, code: number): void {
    this.#wasted();
    this.#reset(stream, code);
  }

  #reset(stream: Http2Stream, code: number): void {
    this.write(frames.numbersFrame(TYPE.rstStream, stream.id, [code]));
    this.#forget(stream);
    stream.close();
  }

  #settings(flags: number, chunk: Buffer, start: number, end: number): void {
    if (flags & FLAG.ack) return;
    this.windows.settings(chunk, start, end);
    this.write(frames.frameHead(TYPE.settings, FLAG.ack, 0, 0));
  }

  #ping(flags: number, chunk: Buffer, start: number, end: number): void {
    if (flags & FLAG.ack) return;
    this.write(Buffer.concat([frames.frameHead(TYPE.ping, FLAG.ack, 0, end - start), chunk.subarray(start, end)]));
  }

  #widen(id: number, bytes: number): void {
    if (id === 0) return this.windows.widen(bytes);
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#streams.checkBegun(id);
    if (bytes === 0) return this.#resetByFault(stream, CODE.protocol);
    if (!this.windows.widenStream(stream, bytes)) this.#resetByFault(stream, CODE.flowControl);
  }

  /**
   * The peer took up a stream for nothing. A gateway whose clients all leave at once may do so, too: its other calls go on, and its next
   * ones come on another connection.
   */
  #wasted(): void {
    if (!this.budget.wasted()) this.drain(CODE.enhanceYourCalm);
  }

  #renew(id: number, window: ReceiveWindow): void {
    const bytes = window.renew();
    if (bytes > 0) this.write(frames.numbersFrame(TYPE.windowUpdate, id, [bytes]));
  }

  #forget(stream: Http2Stream): void {
    this.#streams.end(stream.id, !stream.isRemoteEnded);
    this.windows.waiting.forget(stream);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#isDraining && this.#streams.size === 0) this.#endSoon();
  }

  #fail(code: number): void {
    this.write(frames.numbersFrame(TYPE.goaway, 0, [this.#lastStream, code]));
    this.#endSoon();
    this.#endStreams();
  }

  /** What the peer still sends is thrown away: if it were left unread, the peer could lose what it was told last. */
  #endSoon(): void {
    this.#out.flush();
    this.#isEnding = true;
    this.#socket.end();
  }

  #endStreams(): void {
    const open = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of open) stream.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroySoon();
    this.#endStreams();
    this.#options.closed();
  }
}

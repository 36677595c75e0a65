import type { Socket } from "node:net";
import { readAccepted } from "../runtime/accepted-socket.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import * as frames from "./frames.ts";
import { CODE, ConnectionError, checkSize, FLAG, protocolError, SETTING, TYPE } from "./frames.ts";
import { HeaderBlock, unpadded } from "./header-block.ts";
import { HeaderDecoder } from "./hpack.ts";
import { FULL_BYTES, type Http2Options, OVERFULL_BYTES, RECEIVE_WINDOW } from "./http2-options.ts";
import { Http2Stream, type StreamConnection } from "./http2-stream.ts";
import { OutQueue } from "./out-queue.ts";
import { PeerSettings } from "./peer-settings.ts";
import { ReceiveWindow } from "./receive-window.ts";

const PING_BYTES = 8;

/** The server's end of an HTTP/2 connection (RFC 9113) without TLS, with prior knowledge; it pushes nothing. */
export class Http2Connection implements FrameSink, StreamConnection {
  sendWindow = frames.DEFAULT_WINDOW;
  readonly #options: Http2Options;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(this);
  readonly #decoder: HeaderDecoder;
  readonly #block: HeaderBlock;
  readonly #streams = new Map<number, Http2Stream>();
  /** The last one that was accepted, as GOAWAY tells. */
  #lastStream = 0;
  /** The last one that was begun, refused ones included: later frames of those are no fault. */
  #lastBegun = 0;
  readonly #peer = new PeerSettings();
  readonly #window = new ReceiveWindow(RECEIVE_WINDOW);
  #hasSettings = false;
  /** Windows have grown since streams were asked to send more. */
  #isWider = false;
  #isDraining = false;
  #isClosed = false;
  readonly #out: OutQueue;

  /** `socket` is paused. */
  constructor(socket: Socket, options: Http2Options) {
    this.#options = options;
    this.#decoder = new HeaderDecoder(2 * options.headBytes);
    this.#block = new HeaderBlock(options.headBytes);
    this.#socket = readAccepted(socket, (chunk) => this.#read(chunk));
    this.#out = new OutQueue(this.#socket);
    this.#socket.on("drain", () => this.#pumpAll());
    this.#socket.on("error", () => this.#close());
    this.#socket.on("close", () => this.#close());
    this.write(
      frames.settingsFrame([
        [SETTING.maxConcurrentStreams, options.maxStreams],
        [SETTING.maxHeaderList, options.headBytes],
      ]),
    );
    this.write(frames.numbersFrame(TYPE.windowUpdate, 0, [RECEIVE_WINDOW - frames.DEFAULT_WINDOW]));
  }

  /** Whether the client has begun as one of HTTP/2 does. */
  get hasPreface(): boolean {
    return this.#reader.hasPreface;
  }

  get isFull(): boolean {
    return this.#socket.writableLength > FULL_BYTES;
  }

  get maxFrameBytes(): number {
    return this.#peer.maxFrameBytes;
  }

  /** Bytes that wait for the peer's socket. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  get streams(): Iterable<Http2Stream> {
    return this.#streams.values();
  }

  get hasOpenBlock(): boolean {
    return this.#block.openStream !== 0;
  }

  /** Ends a stream whose peer takes nothing. */
  abandon(stream: Http2Stream): void {
    this.#resetByFault(stream, CODE.cancel);
    this.#out.flush();
  }

  /** Takes no more streams; ends once those under way have. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.write(frames.numbersFrame(TYPE.goaway, 0, [this.#lastStream, CODE.none]));
    this.#endIfIdle();
  }

  destroy(): void {
    this.#out.flush();
    this.#close();
  }

  write(bytes: Buffer): void {
    if (!this.#isClosed) this.#out.push(bytes);
  }

  localEnd(stream: Http2Stream): void {
    if (!stream.isRemoteEnded) this.write(frames.numbersFrame(TYPE.rstStream, stream.id, [CODE.none]));
    this.#forget(stream);
  }

  /** The stream's reader takes no more bytes for now, or goes on. */
  hold(stream: Http2Stream, isHeld: boolean): void {
    stream.isHeld = isHeld;
    if (!isHeld && this.#streams.has(stream.id)) this.#renew(stream.id, stream.window);
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#reader.push(chunk);
    } catch (thrown) {
      if (!(thrown instanceof ConnectionError)) throw thrown;
      return this.#fail(thrown.code);
    }
    if (this.#isWider) this.#pumpAll();
    this.#out.flush();
    if (this.#socket.writableLength > OVERFULL_BYTES) this.#fail(CODE.enhanceYourCalm);
  }

  frame(type: number, flags: number, id: number, chunk: Buffer, start: number, end: number): void {
    if (this.#isClosed) return;
    if (!this.#hasSettings && type !== TYPE.settings) throw protocolError("The first frame is not SETTINGS");
    if (this.#block.openStream !== 0 && (type !== TYPE.continuation || id !== this.#block.openStream))
      throw protocolError("A header block was interrupted");
    switch (type) {
      case TYPE.data:
        return this.#data(flags, id, chunk, start, end);
      case TYPE.headers:
        if (id % 2 === 0) throw protocolError("A stream of a client has an even number");
        this.#block.begin(flags, id, chunk, start, end);
        return this.#headers(flags);
      case TYPE.continuation:
        if (this.#block.openStream === 0) throw protocolError("A header block continues that has not begun");
        this.#block.add(chunk, start, end);
        return this.#headers(flags);
      case TYPE.rstStream:
        checkSize(end - start === 4);
        return this.#wasReset(id);
      case TYPE.settings:
        return this.#settings(flags, id, chunk, start, end);
      case TYPE.pushPromise:
        throw protocolError("A client can't push");
      case TYPE.ping:
        checkSize(end - start === PING_BYTES);
        return this.#ping(flags, chunk, start, end);
      case TYPE.windowUpdate:
        checkSize(end - start === 4);
        return this.#widen(id, chunk.readUInt32BE(start) & 0x7fff_ffff);
      case TYPE.goaway:
        return this.drain();
    }
  }

  #data(flags: number, id: number, chunk: Buffer, start: number, end: number): void {
    const bytes = end - start;
    if (!this.#window.took(bytes)) throw new ConnectionError(CODE.flowControl, "More data than the connection's window");
    this.#renew(0, this.#window);
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#checkKnown(id);
    if (stream.isRemoteEnded) return this.#resetByFault(stream, CODE.streamClosed);
    if (!stream.window.took(bytes)) return this.#resetByFault(stream, CODE.flowControl);
    const [from, to] = unpadded(flags, chunk, start, end);
    if (to > from) stream.reader?.data(chunk, from, to);
    if (flags & FLAG.endStream) this.#remoteEnd(stream);
    else if (!stream.isHeld && this.#streams.has(id)) this.#renew(id, stream.window);
  }

  #headers(flags: number): void {
    if ((flags & FLAG.endHeaders) === 0) return;
    const id = this.#block.openStream;
    const fields = this.#decoder.decode(this.#block.take());
    const known = this.#streams.get(id);
    if (known !== undefined) {
      // Trailers, which say nothing in a call.
      if (!this.#block.isEnd || known.isRemoteEnded) return this.#resetByFault(known, CODE.protocol);
      return this.#remoteEnd(known);
    }
    if (id <= this.#lastBegun) return;
    this.#lastBegun = id;
    if (this.#isDraining || this.#streams.size >= this.#options.maxStreams) {
      this.write(frames.numbersFrame(TYPE.rstStream, id, [CODE.refused]));
      return;
    }
    this.#lastStream = id;
    const stream = new Http2Stream(id, this, this.#peer.initialWindow, this.#options.unsent);
    this.#streams.set(id, stream);
    stream.reader = this.#options.accept(fields, stream);
    if (this.#block.isEnd) this.#remoteEnd(stream);
  }

  #remoteEnd(stream: Http2Stream): void {
    stream.isRemoteEnded = true;
    stream.reader?.ended();
  }

  #wasReset(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#checkKnown(id);
    this.#forget(stream);
    stream.close();
  }

  #resetByFault(stream: Http2Stream, code: number): void {
    this.write(frames.numbersFrame(TYPE.rstStream, stream.id, [code]));
    this.#forget(stream);
    stream.close();
  }

  #settings(flags: number, id: number, chunk: Buffer, start: number, end: number): void {
    this.#hasSettings = true;
    if (id !== 0) throw protocolError("Settings of a stream");
    if (flags & FLAG.ack) return;
    const before = this.#peer.initialWindow;
    this.#peer.read(chunk, start, end);
    if (this.#peer.initialWindow !== before) this.#widenAll(this.#peer.initialWindow - before);
    this.write(frames.frameHead(TYPE.settings, FLAG.ack, 0, 0));
  }

  #widenAll(bytes: number): void {
    for (const stream of this.#streams.values()) this.#widenStream(stream, bytes);
  }

  /** Once for each read: a peer may send thousands of windows in one. */
  #pumpAll(): void {
    this.#isWider = false;
    for (const stream of this.#streams.values()) {
      stream.pump();
      stream.relieve();
    }
  }

  #ping(flags: number, chunk: Buffer, start: number, end: number): void {
    if (flags & FLAG.ack) return;
    this.write(frames.frameHead(TYPE.ping, FLAG.ack, 0, PING_BYTES));
    this.write(Buffer.from(chunk.subarray(start, end)));
  }

  #widen(id: number, bytes: number): void {
    const stream = id === 0 ? undefined : this.#streams.get(id);
    if (id !== 0 && stream === undefined) return this.#checkKnown(id);
    if (bytes === 0) throw protocolError("A window grows by nothing");
    if (stream !== undefined) return this.#widenStream(stream, bytes);
    this.sendWindow += bytes;
    if (this.sendWindow > frames.LARGEST_WINDOW) throw new ConnectionError(CODE.flowControl, "A window is too large");
    this.#isWider = true;
  }

  #widenStream(stream: Http2Stream, bytes: number): void {
    if (stream.widen(bytes) > frames.LARGEST_WINDOW) this.#resetByFault(stream, CODE.flowControl);
    this.#isWider = true;
  }

  #renew(id: number, window: ReceiveWindow): void {
    const bytes = window.renew();
    if (bytes > 0) this.write(frames.numbersFrame(TYPE.windowUpdate, id, [bytes]));
  }

  /** A frame for a stream that there is not: it may be late, but it can't be early. */
  #checkKnown(id: number): void {
    if (id > this.#lastBegun || id === 0) throw protocolError("A frame of a stream that has not begun");
  }

  #forget(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (!this.#isDraining || this.#streams.size > 0) return;
    this.#out.flush();
    this.#socket.end();
  }

  #fail(code: number): void {
    this.write(frames.numbersFrame(TYPE.goaway, 0, [this.#lastStream, code]));
    this.#out.flush();
    this.#socket.end();
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const open = [...this.#streams.values()];
    this.#streams.clear();
    this.#socket.destroySoon();
    for (const stream of open) stream.close();
    this.#options.closed();
  }
}

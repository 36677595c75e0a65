import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { CLOSE } from "../../../core/wire/websocket/close-codes.ts";
import { FrameTrack } from "../../../core/wire/websocket/frame-track.ts";
import { closeFrame, textFrame } from "../../../core/wire/websocket/frames.ts";
import { closeCodeOf } from "./close-code.ts";
import { VERSION } from "./handshake.ts";
import { toldError } from "./told-error.ts";

const SWITCHING = "Switching Protocols";
const SWITCH_LINES = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
/** Frames of the router's own that may wait for the end of one of the replica's. */
const MOST_WAITING = 16;
/** Kept of an error, to be told as a message. */
const MOST_ERROR_BYTES = 16 * 1024;

interface Farewell {
  readonly code: number;
  readonly reason: string;
}

const BROKEN: Farewell = { code: CLOSE.internalError, reason: "The replica's connection broke." };

/**
 * The client's end of a tunnel, which the request has for its response. Until a replica has answered the handshake, what comes is a plain
 * response; but where the router had to answer it first, an error becomes a message and a Close.
 */
export class ClientSide implements ResponseWriter {
  readonly frames = new FrameTrack();
  /** Why the router ends it, where the request's error does not say it. */
  farewell: Farewell | undefined;
  readonly #real: ResponseWriter;
  readonly #ended: () => void;
  /** The router has answered the handshake. */
  #isAccepted = false;
  /** The frames of a replica pass. */
  #isSwitched = false;
  /** Of a response that is told as a message. */
  #status = 0;
  #told: Buffer[] = [];
  #toldBytes = 0;
  /** Frames of the router's own for which there was no place. */
  readonly #waiting: Buffer[] = [];

  /** `ended` is called when the last byte is written. */
  constructor(real: ResponseWriter, ended: () => void) {
    this.#real = real;
    this.#ended = ended;
  }

  get hasStarted(): boolean {
    return this.#isAccepted ? this.#isSwitched || this.#status > 0 : this.#real.hasStarted;
  }

  holdBody(isHeld: boolean): void {
    this.#real.holdBody(isHeld);
  }

  /** Answers the handshake; `lines` are header lines beside those of every such answer. */
  accept(lines: string): void {
    this.#isAccepted = true;
    this.#real.start(101, SWITCHING, lines + SWITCH_LINES, -1);
    this.#real.flush();
  }

  /** Writes a frame of the router's own, where no other is under way. Returns as `write` does. */
  say(frame: Buffer): boolean {
    const hasRoom = this.#real.write(frame, [0, frame.length], 1, false);
    this.#real.flush();
    return hasRoom;
  }

  /** The same once no frame of the replica is under way. */
  sayBetween(frame: Buffer): void {
    if (this.frames.isBetween && this.#waiting.length === 0) this.say(frame);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(frame);
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (status === 101) this.#isSwitched = true;
    else this.#status = status;
    if (this.#isAccepted) return;
    const version = status === 426 ? `sec-websocket-version: ${VERSION}\r\n` : "";
    this.#real.start(status, reason, lines + (status === 101 ? SWITCH_LINES : version), length);
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean {
    if (this.#isSwitched) for (let i = 0; i < spanCount; i++) this.frames.read(chunk, spans[2 * i]!, spans[2 * i + 1]!);
    else if (this.#isAccepted) return this.#keep(chunk, spans, spanCount);
    const hasRoom = this.#real.write(chunk, spans, spanCount, isVerbatim);
    return this.#waiting.length > 0 && this.frames.isBetween ? this.#sayWaiting() : hasRoom;
  }

  flush(): void {
    this.#real.flush();
  }

  end(isVerbatimEnd?: boolean): void {
    this.#ended();
    if (this.#isAccepted && !this.#isSwitched) this.#tell();
    this.#real.end(isVerbatimEnd);
  }

  abort(lastWords: string | Uint8Array): void {
    this.#ended();
    if (!this.#isSwitched && !this.#isAccepted) return this.#real.abort(lastWords);
    if (!this.#isSwitched) this.#tell();
    else if (this.frames.isBetween && !this.frames.isClosed) this.#close(this.farewell ?? BROKEN);
    this.#real.abort("");
  }

  /** The client has left before there was anything to tell it. */
  leave(): void {
    this.#ended();
    this.#real.end();
  }

  #sayWaiting(): boolean {
    let hasRoom = true;
    for (const frame of this.#waiting.splice(0)) hasRoom = this.say(frame);
    return hasRoom;
  }

  #keep(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): true {
    for (let i = 0; i < spanCount; i++) {
      this.#toldBytes += spans[2 * i + 1]! - spans[2 * i]!;
      if (this.#toldBytes <= MOST_ERROR_BYTES) this.#told.push(Buffer.from(chunk.subarray(spans[2 * i], spans[2 * i + 1])));
    }
    return true;
  }

  /** Tells the error as APIs of this kind do, and closes. */
  #tell(): void {
    const isWhole = this.#toldBytes <= MOST_ERROR_BYTES;
    const { event, words } = toldError(isWhole ? Buffer.concat(this.#told).toString() : "");
    this.#told = [];
    this.say(textFrame(event));
    this.#close(this.farewell ?? { code: closeCodeOf(this.#status), reason: words });
  }

  #close({ code, reason }: Farewell): void {
    this.say(closeFrame(code, reason));
  }
}

import { RouterError } from "../../../../core/contract/errors.ts";
import { errorEvent } from "../../../../core/errors/dialects.ts";
import type { Door } from "../../../../core/host/door.ts";
import type { ResponseWriter } from "../../../../core/host/response-writer.ts";
import { textFrame } from "../../../../core/wire/websocket/frames.ts";
import type { ClientSide } from "../client-side.ts";
import { toldRefusal } from "../told-error.ts";
import type { EventFrames, FramesOwner } from "./event-frames.ts";

/** A longer error is told in the router's own words. */
const MOST_ERROR_BYTES = 64 * 1024;
/** Of a response that does not come in events. */
const MOST_DOCUMENT_BYTES = 8 * 1024 * 1024;
const BROKEN = "The response broke off; send the request again if that does no harm.";

/** Who reads messages, and hears of the end of what answers one. */
export interface MessageOwner extends FramesOwner {
  /** With this status, and with `isCut` inside of a message, behind which nothing can be said. */
  responded(status: number, isCut: boolean): void;
  holdBody(isHeld: boolean): void;
}

/** The response to one message: each event becomes a message, an error the API's own one, with the status that it has over HTTP. */
export class MessageResponse implements ResponseWriter {
  hasStarted = false;
  readonly door: Door;
  readonly #client: ClientSide;
  readonly #owner: MessageOwner;
  readonly #frames: EventFrames;
  #status = 0;
  #form: "events" | "error" | "document" = "events";
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isOver = false;

  constructor(client: ClientSide, owner: MessageOwner, frames: EventFrames, door: Door) {
    this.#client = client;
    this.#owner = owner;
    this.door = door;
    this.#frames = frames;
  }

  holdBody(isHeld: boolean): void {
    if (!this.#isOver) this.#owner.holdBody(isHeld);
  }

  start(status: number, _reason: string, lines: string, _length: number): void {
    if (this.hasStarted || this.#isOver) return;
    this.hasStarted = true;
    this.#status = status;
    if (status >= 300) this.#form = "error";
    else if (!/^content-type:[ \t]*text\/event-stream/im.test(lines)) this.#form = "document";
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, _isVerbatim: boolean): boolean {
    if (this.#isOver) return true;
    let hasRoom = true;
    for (let i = 0; i < spanCount; i++) {
      const [start, end] = [spans[2 * i]!, spans[2 * i + 1]!];
      if (this.#form === "events") hasRoom = this.#frames.read(chunk, start, end) && hasRoom;
      else this.#keep(chunk, start, end);
    }
    return hasRoom;
  }

  flush(): void {
    if (!this.#isOver) this.#client.flush();
  }

  end(_isVerbatimEnd?: boolean): void {
    if (this.#isOver) return;
    if (this.#form === "error") this.#say(toldRefusal(this.#status, this.#text(MOST_ERROR_BYTES)));
    else if (this.#form === "document") this.#sayDocument();
    this.#over();
  }

  /** The last words are an error event. */
  abort(lastWords: string | Uint8Array): void {
    if (this.#isOver) return;
    const words = lastWords.length === 0 ? errorEvent(new RouterError("upstream_reset", BROKEN), "responses", "") : lastWords;
    const bytes = typeof words === "string" ? Buffer.from(words) : words;
    // Behind a part of an event it would be taken for the rest of it.
    if (this.#frames.isBetween) {
      this.#frames.reset();
      this.#frames.read(bytes, 0, bytes.length);
    }
    this.#over();
  }

  /** The client has gone. */
  detach(): void {
    this.#isOver = true;
    this.#kept = [];
  }

  #keep(chunk: Uint8Array, start: number, end: number): void {
    this.#keptBytes += end - start;
    if (this.#keptBytes > MOST_DOCUMENT_BYTES) this.#kept = [];
    else this.#kept.push(Buffer.from(chunk.subarray(start, end)));
  }

  /** "" where it is longer. */
  #text(mostBytes: number): string {
    return this.#keptBytes > mostBytes ? "" : Buffer.concat(this.#kept).toString();
  }

  /** A response that came whole, such as a feature's answer, is one that is complete. */
  #sayDocument(): void {
    const text = this.#text(MOST_DOCUMENT_BYTES);
    this.#say(text === "" ? toldRefusal(502, "") : `{"type":"response.completed","response":${text.replace(/[\r\n]/g, " ")}}`);
  }

  #say(text: string): void {
    const frame = textFrame(text);
    this.#owner.frames(frame, 0, frame.length);
  }

  #over(): void {
    this.#isOver = true;
    this.#kept = [];
    this.#client.flush();
    this.#owner.responded(this.#status, !this.#frames.isBetween);
  }
}

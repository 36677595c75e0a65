import type { ResponseWriter } from "../../core/host/response-writer.ts";
import type { Gateway } from "../../core/pool/gateway.ts";
import type { Head } from "../../core/wire/head.ts";
import { type Call, GRPC } from "./grpc/call.ts";
import { headerChanges, headersOf } from "./header-changes.ts";
import { pieceMessage, responseMessage } from "./messages.ts";
import { MODE } from "./modes.ts";

const NO_BYTES: Buffer = Buffer.alloc(0);

/** What the response tells its exchange. */
interface GatewayResponseOwner {
  holdBody(isHeld: boolean): void;
  /** Nothing more is said to the gateway. */
  over(): void;
}

/** A response of the router's own. */
interface OwnResponse {
  readonly status: number;
  readonly lines: string;
  readonly parts: Buffer[];
}

/**
 * Writes a response through a gateway: as changes of the head and the body that pass through it, or, in place of them, one of the
 * router's own.
 */
export class GatewayResponse implements ResponseWriter {
  hasStarted = false;
  gateway: Gateway | undefined = undefined;
  /** How bodies of responses come. */
  mode: number = MODE.duplex;
  /** Trailers come behind the body: they are the end. */
  hasTrailers = false;
  readonly #call: Call;
  readonly #owner: GatewayResponseOwner;
  #isOpen = true;
  /** The gateway has the response's head, and waits to hear what becomes of it. */
  #head: Head | undefined;
  #own: OwnResponse | undefined;
  /** The body's piece that came last. */
  #piece = NO_BYTES;
  /** That piece was written as it came, and is not yet sent. */
  #isPieceKept = false;
  /** The gateway waits to hear what becomes of that piece. */
  #isAnswerDue = false;
  /** What was written in the place of that piece; unused where bodies pass as streams. */
  #written: Buffer[] = [];
  #isEnded = false;
  #isFull = false;

  constructor(call: Call, owner: GatewayResponseOwner) {
    this.#call = call;
    this.#owner = owner;
  }

  headCame(head: Head): void {
    this.#head = head;
  }

  /** A piece of the body came: what is written until the next one takes its place. Its bytes must stay until `flush`, or `pieceSeen`. */
  pieceCame(piece: Buffer): void {
    this.#piece = piece;
    this.#isAnswerDue = this.mode !== MODE.duplex;
  }

  /** The head has been looked at: a gateway that sends no body before it has heard so may go on. */
  headSeen(): void {
    if (!this.#isOpen || this.mode === MODE.duplex) return;
    if (this.#head !== undefined) this.#answerHead("", this.#head);
    if (this.#isEnded) this.#close();
  }

  /** The piece has been looked at. */
  pieceSeen(): void {
    if (!this.#isOpen || this.mode === MODE.duplex) return;
    this.#answerPiece();
    if (this.#isEnded) this.#close();
  }

  drained(): void {
    this.#isFull = false;
  }

  holdBody(isHeld: boolean): void {
    this.#owner.holdBody(isHeld);
  }

  start(status: number, _reason: string, lines: string): void {
    if (!this.#isOpen || this.hasStarted) return;
    this.hasStarted = true;
    if (this.#head?.status === status) this.#answerHead(lines, this.#head);
    else this.#own = { status, lines, parts: [] };
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): boolean {
    if (!this.#isOpen) return true;
    const isWhole = chunk === this.#piece && spanCount === 1 && spans[0] === 0 && spans[1] === chunk.length;
    if (isWhole && this.#own === undefined && this.#written.length === 0) {
      this.#isPieceKept = true;
      return !this.#isFull;
    }
    this.#passKept();
    for (let i = 0; i < spanCount; i++) this.#put(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
    return !this.#isFull;
  }

  flush(): void {
    if (this.#isOpen && this.mode === MODE.duplex) this.#passKept();
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isEnded = true;
    const own = this.#own;
    if (own !== undefined) {
      this.#call.send(ownResponse(own));
      this.#close();
    } else if (this.mode === MODE.duplex) {
      this.#endStream();
      this.#close();
    }
  }

  /**
   * A call that ends with an error makes the gateway reset the response. Where the gateway waits to hear what becomes of a piece, the
   * last words are put behind it; then nothing can be reset.
   */
  abort(lastWords: string | Uint8Array): void {
    if (!this.#isOpen) return;
    this.#passKept();
    if (lastWords.length > 0 && (this.mode === MODE.duplex || this.#isAnswerDue)) this.#put(Buffer.from(lastWords as Uint8Array));
    if (lastWords.length > 0 && this.#isAnswerDue) {
      this.#answerPiece();
      return this.#close();
    }
    this.#call.end(GRPC.unavailable, "The response broke off");
    this.#close();
  }

  /** The gateway is gone. */
  detach(): void {
    this.#isOpen = false;
  }

  #answerHead(lines: string, head: Head): void {
    this.#head = undefined;
    const response = lines === "" ? {} : { header_mutation: headerChanges(head, lines) };
    this.#call.send(responseMessage({ response_headers: { response } }, 2 * lines.length));
  }

  #answerPiece(): void {
    const written = this.#written;
    this.#written = [];
    this.#isAnswerDue = false;
    const isSame = this.#isPieceKept || (written.length === 0 && this.#piece.length === 0);
    this.#isPieceKept = false;
    const body = Buffer.concat(written);
    const mutation = body.length === 0 ? { clear_body: true } : { body };
    this.#call.send(responseMessage({ response_body: { response: isSame ? {} : { body_mutation: mutation } } }, body.length));
  }

  #passKept(): void {
    if (!this.#isPieceKept) return;
    this.#isPieceKept = false;
    this.#put(this.#piece);
  }

  #put(bytes: Uint8Array): void {
    if (this.#own !== undefined) this.#own.parts.push(Buffer.from(bytes));
    else if (this.mode !== MODE.duplex) this.#written.push(Buffer.from(bytes));
    else if (!this.#call.send(pieceMessage("response_body", bytes, false))) this.#isFull = true;
  }

  #endStream(): void {
    const isEnd = !this.hasTrailers;
    if (this.#isPieceKept || isEnd)
      this.#call.send(pieceMessage("response_body", this.#isPieceKept ? this.#piece : NO_BYTES, isEnd));
    if (!isEnd) this.#call.send(responseMessage({ response_trailers: {} }));
  }

  #close(): void {
    this.#isOpen = false;
    this.#call.end(GRPC.ok);
    this.#owner.over();
  }
}

function ownResponse({ status, lines, parts }: OwnResponse): Buffer {
  const body = Buffer.concat(parts);
  return responseMessage(
    { immediate_response: { status: { code: status }, headers: headersOf(lines), body, details: "signalbox" } },
    body.length + 2 * lines.length,
  );
}

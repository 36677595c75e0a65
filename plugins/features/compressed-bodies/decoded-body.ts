import type { BodyBuffer } from "../../../core/body/receive.ts";
import { asRouterError, RouterError } from "../../../core/contract/errors.ts";
import type { BodyDecoder, RequestReceiver } from "../../../core/contract/slots/decode.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import type { Inflater } from "./inflater.ts";

/** So much of a body may come out of whatever has come in: small texts of one word are packed tighter than any real prompt. */
const FREE_BYTES = 1024 * 1024;

/** What of a response is used here; see ResponseWriter. */
type BodyHost = Pick<ResponseWriter, "hasStarted" | "holdBody">;

/** Inflates a body on its way to its receiver. Its host waits while the inflater is behind. */
export class DecodedBody implements BodyDecoder {
  original: Uint8Array | undefined;
  readonly #inflater: Inflater;
  readonly #response: BodyHost;
  readonly #receiver: RequestReceiver;
  readonly #mostRatio: number;
  /** Keeps the body as it comes; undefined where replicas get the plain one. */
  readonly #kept: BodyBuffer | undefined;
  #cameBytes = 0;
  #madeBytes = 0;
  #isOver = false;

  constructor(inflater: Inflater, response: BodyHost, receiver: RequestReceiver, mostRatio: number, kept?: BodyBuffer) {
    this.#inflater = inflater;
    this.#response = response;
    this.#receiver = receiver;
    this.#mostRatio = mostRatio;
    this.#kept = kept;
    inflater.on("data", (made: Uint8Array) => this.#made(made));
    inflater.on("drain", () => response.holdBody(false));
    inflater.on("end", () => this.#whole());
    inflater.on("error", () =>
      this.#fail(new RouterError("bad_request", "The body is not what its Content-Encoding says, or it is cut; send it whole.")),
    );
  }

  body(chunk: Uint8Array, start: number, end: number): void {
    if (this.#isOver || start === end) return;
    this.#cameBytes += end - start;
    if (this.#kept !== undefined && !this.#keep(this.#kept, chunk, start, end)) return;
    // The host uses the chunk's memory again.
    if (!this.#inflater.write(Buffer.from(chunk.subarray(start, end)))) this.#response.holdBody(true);
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    this.#kept?.complete();
    this.original = this.#kept?.bytes;
    this.#inflater.end();
  }

  refuse(error: RouterError): void {
    this.#close();
    this.#receiver.refuse(error);
  }

  clientGone(): void {
    this.#close();
    this.#receiver.clientGone();
  }

  stop(): void {
    this.#close();
    this.#receiver.stop();
  }

  drained(): void {
    this.#receiver.drained();
  }

  /** Returns whether there was room for it. */
  #keep(kept: BodyBuffer, chunk: Uint8Array, start: number, end: number): boolean {
    try {
      kept.append(chunk, start, end);
    } catch (thrown) {
      this.#fail(asRouterError(thrown));
    }
    return !this.#isOver;
  }

  #made(made: Uint8Array): void {
    if (this.#isOver) return;
    this.#madeBytes += made.length;
    if (this.#madeBytes > FREE_BYTES && this.#madeBytes > this.#cameBytes * this.#mostRatio)
      return this.#fail(
        new RouterError(
          "body_too_large",
          "The body becomes too much longer when it is inflated; send it without Content-Encoding.",
        ),
      );
    this.#receiver.body(made, 0, made.length);
    // The receiver has refused it, so nobody wants the rest.
    if (this.#response.hasStarted) this.#close();
  }

  #whole(): void {
    if (this.#isOver) return;
    this.#close();
    this.#receiver.bodyEnd();
  }

  #fail(error: RouterError): void {
    if (!this.#isOver) this.refuse(error);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inflater.destroy();
    this.#response.holdBody(false);
  }
}

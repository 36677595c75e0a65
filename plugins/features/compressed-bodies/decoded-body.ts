import { RouterError } from "../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import type { Inflater } from "./inflater.ts";

/** So much of a body may come out of whatever has come in: small texts of one word are packed tighter than any real prompt. */
const FREE_BYTES = 1024 * 1024;

/** Inflates a body on its way to its receiver. Its host waits while the inflater is behind. */
export class DecodedBody implements RequestReceiver {
  readonly #inflater: Inflater;
  readonly #response: ResponseWriter;
  readonly #receiver: RequestReceiver;
  readonly #mostRatio: number;
  #cameBytes = 0;
  #madeBytes = 0;
  #isOver = false;

  constructor(inflater: Inflater, response: ResponseWriter, receiver: RequestReceiver, mostRatio: number) {
    this.#inflater = inflater;
    this.#response = response;
    this.#receiver = receiver;
    this.#mostRatio = mostRatio;
    inflater.on("data", (made: Uint8Array) => this.#made(made));
    inflater.on("drain", () => response.holdBody(false));
    inflater.on("end", () => this.#whole());
    inflater.on("error", () =>
      this.#fail("bad_request", "The body is not what its Content-Encoding says, or it is cut; send it whole."),
    );
  }

  body(chunk: Uint8Array, start: number, end: number): void {
    if (this.#isOver || start === end) return;
    this.#cameBytes += end - start;
    // The host uses the chunk's memory again.
    if (!this.#inflater.write(Buffer.from(chunk.subarray(start, end)))) this.#response.holdBody(true);
  }

  bodyEnd(): void {
    if (!this.#isOver) this.#inflater.end();
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

  #made(made: Uint8Array): void {
    if (this.#isOver) return;
    this.#madeBytes += made.length;
    if (this.#madeBytes > FREE_BYTES && this.#madeBytes > this.#cameBytes * this.#mostRatio)
      return this.#fail(
        "body_too_large",
        "The body becomes too much longer when it is inflated; send it without Content-Encoding.",
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

  #fail(code: "bad_request" | "body_too_large", message: string): void {
    if (this.#isOver) return;
    this.#close();
    this.#receiver.refuse(new RouterError(code, message));
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inflater.destroy();
    this.#response.holdBody(false);
  }
}

import type { ResponseWriter } from "../../core/host/response-writer.ts";

/** Writes a body of unknown length to a response, no faster than its client reads. Its owner starts the response. */
export class ResponsePump {
  readonly #response: ResponseWriter;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Set while the client can't take more: goes on. */
  #goOn: (() => void) | undefined;

  constructor(response: ResponseWriter, body: ReadableStream<Uint8Array>) {
    this.#response = response;
    this.#reader = body.getReader();
  }

  /** Resolves when the body has ended, or was cancelled. A body that fails breaks the response off. */
  async run(): Promise<void> {
    const response = this.#response;
    response.flush();
    try {
      for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
        if (!response.write(part.value, [0, part.value.length], 1, false)) await this.#untilDrained();
      }
      response.end();
    } catch {
      response.abort("");
    }
  }

  #untilDrained(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  /** The client can take more. */
  drained(): void {
    this.#goOn?.();
  }

  /** Ends the response after what is written. */
  stop(): void {
    this.#reader.cancel().catch(() => {});
    this.#goOn?.();
  }
}

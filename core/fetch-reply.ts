import type { Reply, RequestReceiver } from "./reply.ts";

/** Bytes held for a slow reader before the replica is paused. */
const HIGH_WATER_BYTES = 64 * 1024;

/** Turns an answer into a Response with a stream body. */
export class FetchReply implements Reply {
  hasStarted = false;
  receiver: RequestReceiver | undefined;
  readonly #method: string;
  readonly #resolve: (response: Response) => void;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;
  #isPaused = false;
  /** Set when the body must fail once its reader has taken everything before. */
  #failure: Error | undefined;

  constructor(method: string, resolve: (response: Response) => void) {
    this.#method = method;
    this.#resolve = resolve;
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const headers = new Headers(headerPairs(lines));
    if (length >= 0 && status !== 204 && status !== 304) headers.set("content-length", String(length));
    const hasBody = this.#method !== "HEAD" && length !== 0 && status !== 204 && status !== 304;
    const body = hasBody ? this.#openBody() : null;
    this.#resolve(new Response(body, { status, statusText: /^[\x20-\x7e]*$/.test(reason) ? reason : "", headers }));
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): boolean {
    const body = this.#body;
    if (body === undefined || this.#isOver) return true;
    for (let i = 0; i < spanCount; i++) body.enqueue(chunk.subarray(spans[2 * i]!, spans[2 * i + 1]!));
    this.#isPaused = (body.desiredSize ?? 1) <= 0;
    return !this.#isPaused;
  }

  flush(): void {}

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body?.close();
  }

  abort(lastWords: string): void {
    if (this.#isOver) return;
    if (lastWords !== "") this.#body?.enqueue(new TextEncoder().encode(lastWords));
    this.#isOver = true;
    this.#failure = new Error("The replica's answer broke off");
    this.#failWhenTaken();
  }

  #openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => {
          this.#failWhenTaken();
          if (!this.#isPaused) return;
          this.#isPaused = false;
          this.receiver?.drained();
        },
        cancel: () => {
          this.#isOver = true;
          this.receiver?.clientGone();
        },
      },
      { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /** An error throws away what is queued, so it waits until the queue is empty. */
  #failWhenTaken(): void {
    const body = this.#body;
    if (this.#failure === undefined || body === undefined) return;
    if ((body.desiredSize ?? HIGH_WATER_BYTES) >= HIGH_WATER_BYTES) body.error(this.#failure);
  }
}

function headerPairs(lines: string): [string, string][] {
  return lines
    .split("\r\n")
    .filter((line) => line !== "")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
}

/** One request as it arrived, and how it ended. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values as they came, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Number of the connection it came on, counted from 1. */
  readonly connection: number;
  /** "aborted" by the client, or "cut" by a fault. */
  readonly outcome: "open" | "finished" | "aborted" | "cut";
}

/** A request while it can still change; only the exchange that owns it writes. */
export type OpenRecord = { -readonly [Field in keyof SeenRequest]: SeenRequest[Field] };

/** Bodies are kept up to this many bytes in all. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The last requests a replica received, oldest first. */
export class Seen {
  readonly #limit: number;
  readonly #requests: SeenRequest[] = [];
  readonly #waiters = new Set<() => void>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  /** The newest request on a path, with or without an ending. */
  last(path?: string): SeenRequest | undefined {
    return this.#requests.findLast((request) => path === undefined || request.path === path);
  }

  /** Fulfilled as soon as the test passes, asked at every change of a request or of the engine's load; rejected after the time. */
  until(isMet: (requests: readonly SeenRequest[]) => boolean, timeoutMs = 5000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => end(() => reject(new Error("The mock replica did not see what was waited for."))),
        timeoutMs,
      );
      const check = () => {
        if (isMet(this.#requests)) end(resolve);
      };
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        settle();
      };
      this.#waiters.add(check);
      check();
    });
  }

  clear(): void {
    this.#requests.length = 0;
    this.#bytes = 0;
  }

  /** For the replica: remembers a request whose head has arrived. */
  add(request: SeenRequest): void {
    this.#requests.push(request);
    this.changed();
  }

  /** For the replica: the body of a request is complete. */
  bodyArrived(request: SeenRequest): void {
    // It may have been forgotten meanwhile.
    if (this.#requests.includes(request)) this.#bytes += request.body.length;
    this.changed();
  }

  /** For the replica: something changed. Forgets the oldest beyond the limits and asks those who wait. */
  changed(): void {
    while (this.#requests.length > this.#limit || (this.#bytes > MAX_BYTES && this.#requests.length > 1)) {
      this.#bytes -= this.#requests.shift()?.body.length ?? 0;
    }
    for (const check of [...this.#waiters]) check();
  }
}

/** A request as JSON, its body in base64. */
export function seenAsJson(request: SeenRequest): unknown {
  return { ...request, body: request.body.toString("base64") };
}

import { systemClock } from "../../../../core/contract/clock.ts";
import { exchange, type FetchExchange, type FetchShared } from "../../../../core/fetch/fetch-exchange.ts";
import type { RequestStarter } from "../../../../core/host/request-starter.ts";
import { DEFAULT_LIMITS } from "../../../../core/settings.ts";
import { Deadlines } from "../../../../core/wire/deadlines.ts";
import type { BoundedSender } from "./bounded-sender.ts";
import type { Answer, FromWorker, Question } from "./messages.ts";

const SWEEP_MS = 1_000;
const EVENTS = "text/event-stream";

/** A response under way, or a stream that the parent reads. */
interface Asked {
  readonly leaving: AbortController;
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

/** Answers what the parent's admin port is asked. */
export class WorkerAdmin {
  readonly #start: RequestStarter;
  readonly #parent: BoundedSender<FromWorker>;
  readonly #asked = new Map<number, Asked>();
  readonly #deadlines = new Deadlines(systemClock, SWEEP_MS);
  readonly #open = new Set<FetchExchange>();

  constructor(start: RequestStarter, parent: BoundedSender<FromWorker>) {
    this.#start = start;
    this.#parent = parent;
  }

  /** Sends the answer; never rejects. */
  async ask(id: number, question: Question): Promise<void> {
    const asked: Asked = { leaving: new AbortController() };
    this.#asked.set(id, asked);
    try {
      const response = await exchange(requestOf(question, asked.leaving.signal), this.#sharedFor(question.caller));
      const isStream = response.headers.get("content-type") === EVENTS && response.body !== null;
      if (isStream) asked.reader = response.body.getReader();
      else this.#asked.delete(id);
      this.#answer(id, {
        status: response.status,
        headers: [...response.headers],
        isStream,
        text: isStream ? "" : await response.text(),
      });
    } catch (thrown) {
      this.#asked.delete(id);
      this.#answer(id, { status: 500, headers: [], isStream: false, text: String(thrown) });
    }
  }

  /** Sends what comes next of a stream, when it comes. */
  async more(id: number): Promise<void> {
    const reader = this.#asked.get(id)?.reader;
    const part = await reader?.read().catch(() => undefined);
    if (part === undefined || part.done) {
      this.#asked.delete(id);
      this.#parent.send({ kind: "end", id });
    } else this.#parent.send({ kind: "part", id, text: Buffer.from(part.value).toString() });
  }

  /** Nobody waits for it any more. */
  cancel(id: number): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.leaving.abort();
    asked?.reader?.cancel().catch(() => {});
  }

  close(): void {
    for (const id of [...this.#asked.keys()]) this.cancel(id);
    this.#deadlines.close();
  }

  #answer(id: number, answer: Answer): void {
    this.#parent.send({ kind: "answer", id, answer });
  }

  #sharedFor(caller: string): FetchShared {
    return {
      start: (head, bodyLength, response) => this.#start(head, bodyLength, response, caller),
      nextRequestId: () => "none",
      limits: DEFAULT_LIMITS,
      cors: undefined,
      clock: systemClock,
      deadlines: this.#deadlines,
      memory: { unreadBytes: 0 },
      open: this.#open,
      isClosed: false,
    };
  }
}

function requestOf({ method, target, headers, body }: Question, signal: AbortSignal): Request {
  return new Request(`http://admin${target}`, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    signal,
    ...(body !== "" && { body }),
  });
}

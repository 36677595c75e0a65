import type { ChildProcess } from "node:child_process";
import { systemClock } from "../../../../core/contract/clock.ts";
import { afterAwake } from "../../../../core/contract/standstill.ts";
import { Problem, problemResponse } from "../../../admin/problem.ts";
import type { Outputs } from "../outputs.ts";
import { BoundedSender } from "./bounded-sender.ts";
import type { Answer, FromWorker, Question, ToWorker } from "./messages.ts";
import { passLines } from "./pass-lines.ts";

export interface WorkerEvents {
  received(message: FromWorker, worker: WorkerProcess): void;
  exited(worker: WorkerProcess, how: string, code: number): void;
  /** It does not answer any more, or it does again (`isSilent`). */
  turned(worker: WorkerProcess): void;
}

export type Facts = Extract<ToWorker, { kind: "facts" }>;

/** What waits for a worker's answer, and then for the parts of a stream. */
interface Asked {
  answered(answer: Answer | undefined): void;
  next: ((part: Uint8Array | undefined) => void) | undefined;
}

/** How long a worker may take to answer: a reload waits for all workers. */
const ANSWER_MS = 35_000;
/** So many looks may find that it has said nothing, not even that it lives. A pause of the parent itself is one look. */
const MOST_LOOKS = 2;

/** One worker, as its parent sees it. */
export class WorkerProcess {
  readonly worker: number;
  readonly startedAtMs: number;
  readonly #child: ChildProcess;
  readonly #sender: BoundedSender<ToWorker>;
  readonly #events: WorkerEvents;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #isOver = false;
  /** Looks since it was asked whether it lives; -1: it is to be asked. */
  #looks = -1;
  #heard = 0;
  /** It says nothing: it is frozen, or in one call for long. */
  isSilent = false;
  /** It knows what to begin with, and hears the others. */
  hasBegun = false;
  /** It has greeted the others. */
  hasJoined = false;
  /** It serves. */
  isStarted = false;
  /** What the others hear when it has ended. */
  lastWords: Facts | undefined;
  greeting = "";

  constructor(worker: number, child: ChildProcess, startedAtMs: number, { print, printError }: Outputs, events: WorkerEvents) {
    this.worker = worker;
    this.startedAtMs = startedAtMs;
    this.#child = child;
    this.#events = events;
    this.#sender = new BoundedSender<ToWorker>(child as ConstructorParameters<typeof BoundedSender>[0]);
    if (child.stdout) passLines(child.stdout, print);
    if (child.stderr) passLines(child.stderr, printError);
    child.on("message", (message) => {
      this.#hears();
      if (!this.#answered(message as FromWorker)) events.received(message as FromWorker, this);
    });
    const ended = (how: string, code: number) => {
      if (this.#isOver) return;
      this.#isOver = true;
      for (const asked of [...this.#asked.values()]) {
        asked.answered(undefined);
        asked.next?.(undefined);
      }
      this.#asked.clear();
      events.exited(this, how, code);
    };
    child.on("error", (error) => {
      if (child.pid === undefined) ended(error.message, 1);
    });
    child.on("exit", (code, signal) => ended(signal ? `signal ${signal}` : `exit code ${code}`, code ?? 1));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  send(message: ToWorker): void {
    this.#sender.send(message);
  }

  /** For what may be lost. */
  offer(message: ToWorker, chars: number): void {
    this.#sender.offer(message, chars);
  }

  /** Once a second: whether it still answers. */
  look(): void {
    if (this.#isOver || !this.isStarted) return;
    this.#looks += 1;
    if (this.#looks === 0) this.send({ kind: "ping" });
    if (this.#looks === MOST_LOOKS) this.#fallsSilent();
  }

  #hears(): void {
    this.#heard += 1;
    this.#looks = -1;
    if (!this.isSilent) return;
    this.isSilent = false;
    this.#events.turned(this);
  }

  /** Nobody waits for it any more; those that read a stream of it do. */
  #fallsSilent(): void {
    if (this.isSilent) return;
    this.isSilent = true;
    for (const asked of [...this.#asked.values()]) asked.answered(undefined);
    this.#events.turned(this);
  }

  /** Not by the method of the child, which on Deno closes the channel too. */
  kill(signal: NodeJS.Signals): void {
    try {
      if (!this.#isOver && this.pid !== undefined) process.kill(this.pid, signal);
    } catch {
      // It has just ended.
    }
  }

  /** Asks its admin API. Never rejects. One that says nothing at all in `mostMs` counts as silent. */
  async ask(question: Question, signal?: AbortSignal, mostMs = ANSWER_MS): Promise<Response> {
    const id = ++this.#lastId;
    const heard = this.#heard;
    const answer = await new Promise<Answer | undefined>((resolve) => {
      if (this.#isOver) return resolve(undefined);
      const cancel = afterAwake(systemClock, mostMs, () => {
        asked.answered(undefined);
        if (heard === this.#heard) this.#fallsSilent();
      });
      const asked: Asked = {
        next: undefined,
        answered(given) {
          cancel();
          resolve(given);
        },
      };
      this.#asked.set(id, asked);
      this.send({ kind: "ask", id, question });
      signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    });
    if (answer === undefined) this.#cancel(id);
    if (answer === undefined)
      return problemResponse(new Problem(503, "worker_gone", `Worker ${this.worker} did not answer; ask again in a second.`));
    if (!answer.isStream) this.#asked.delete(id);
    const headers = answer.headers.filter(([name]) => name !== "content-length");
    const isEmpty = question.method === "HEAD" || answer.status === 204;
    const body = answer.isStream ? this.#stream(id) : isEmpty ? null : answer.text;
    return new Response(body, {
      status: answer.status,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
    });
  }

  #stream(id: number): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const part = await new Promise<Uint8Array | undefined>((resolve) => {
            const asked = this.#asked.get(id);
            if (asked === undefined) return resolve(undefined);
            asked.next = resolve;
            this.send({ kind: "more", id });
          });
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
        cancel: () => this.#cancel(id),
      },
      { highWaterMark: 0 },
    );
  }

  #cancel(id: number): void {
    const asked = this.#asked.get(id);
    if (!this.#asked.delete(id)) return;
    this.send({ kind: "cancel", id });
    asked?.answered(undefined);
    asked?.next?.(undefined);
  }

  /** Whether the message belongs to a question. */
  #answered(message: FromWorker): boolean {
    switch (message.kind) {
      case "answer":
        this.#asked.get(message.id)?.answered(message.answer);
        return true;
      case "part":
        this.#asked.get(message.id)?.next?.(Buffer.from(message.text));
        return true;
      case "end": {
        const asked = this.#asked.get(message.id);
        this.#asked.delete(message.id);
        asked?.next?.(undefined);
        return true;
      }
      default:
        return false;
    }
  }
}

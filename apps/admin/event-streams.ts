import { didYouMean } from "../../config/read/problems.ts";
import type { Named } from "../../core/active-config.ts";
import type { Clock } from "../../core/contract/clock.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { Log } from "../../core/contract/log.ts";
import type { Observer, ObserverStream } from "../../core/contract/observer.ts";
import { thrownText } from "../../core/contract/thrown-text.ts";
import { EventStream } from "./event-stream.ts";
import { Problem } from "./problem.ts";

/** Each listener holds a connection, and the admin port has few: half of them are for those who only ask. */
const MOST_LISTENERS = 16;
const KEEP_ALIVE_MS = 15_000;

export interface EventStreamsOptions {
  /** The observers of the newest config. */
  readonly observers: () => readonly Named<Observer>[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A stream, and the instance whose it is. */
interface Owned {
  readonly owner: Named<Observer>;
  readonly stream: ObserverStream;
}

/** The streams of the observers, with their listeners. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Map<EventStream, Owned>();
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** The streams that the newest config has. */
  list(): readonly ObserverStream[] {
    return this.#all().map(({ stream }) => stream);
  }

  /** Whether there is a stream at this path below the API. */
  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /**
   * Begins to listen to the stream at this path. Throws Problem for a query that is not valid, and when there are too many listeners.
   * It ends when its body is cancelled or `signal` is aborted, at `close`, and soon after a config took effect that does not have it
   * any more.
   */
  listen(path: string, query: URLSearchParams, signal: AbortSignal): ReadableStream<Uint8Array<ArrayBuffer>> {
    const owned = this.#find(path);
    if (owned === undefined) throw new Problem(404, "unknown_path", "There is no such stream.");
    checkQuery(query, owned.stream);
    if (this.#isClosed) throw new Problem(503, "stopping", "The router is stopping; ask again when it runs.");
    if (this.#open.size >= MOST_LISTENERS) throw tooMany();
    let stop = () => {};
    const events = new EventStream(this.#options.clock, () => {
      this.#open.delete(events);
      signal.removeEventListener("abort", end);
      if (this.#open.size === 0) this.#stopTicking();
      this.#stopped(owned, stop);
    });
    const end = () => events.end();
    stop = begin(owned.stream, query, events);
    this.#open.set(events, owned);
    this.#stopTimer ??= this.#options.clock.every(KEEP_ALIVE_MS, () => this.#tick());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
    return events.body;
  }

  /** Ends all of them, and takes no more listeners. */
  close(): void {
    this.#isClosed = true;
    for (const events of [...this.#open.keys()]) events.end();
  }

  #tick(): void {
    for (const [events, { owner, stream }] of [...this.#open]) {
      const now = this.#find(stream.path)?.owner;
      // Another instance does not have this one's listeners.
      if (now?.name === owner.name && now.type === owner.type) events.keepAlive();
      else events.end();
    }
  }

  #stopTicking(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #find(path: string): Owned | undefined {
    return this.#all().find(({ stream }) => stream.path === path);
  }

  #all(): readonly Owned[] {
    return this.#options.observers().flatMap((owner) => (owner.plugin.streams ?? []).map((stream) => ({ owner, stream })));
  }

  /** A plugin that fails to stop must not keep others from being stopped. */
  #stopped({ owner }: Owned, stop: () => void): void {
    try {
      stop();
    } catch (thrown) {
      this.#options.log.warn("An observer failed to end a stream", { plugin: owner.name, fault: thrownText(thrown) });
    }
  }
}

function begin(stream: ObserverStream, query: URLSearchParams, events: EventStream): () => void {
  try {
    return stream.listen(query, (make) => events.send(make));
  } catch (thrown) {
    if (thrown instanceof RouterError) throw new Problem(thrown.status, thrown.code, thrown.message);
    throw thrown;
  }
}

/** Throws Problem for a parameter that the stream does not take, or that comes twice. */
function checkQuery(query: URLSearchParams, { parameters }: ObserverStream): void {
  const known = parameters.map(({ name }) => name);
  for (const name of new Set(query.keys())) {
    if (!known.includes(name)) {
      const hint = didYouMean(name, known);
      const takes = known.length === 0 ? "no parameters" : `only ${known.join(", ")}`;
      throw new Problem(400, "unknown_parameter", `This stream takes ${takes}.${hint === "" ? "" : ` ${hint}`}`);
    }
    if (query.getAll(name).length > 1) throw new Problem(400, "repeated_parameter", `Give the parameter "${name}" only once.`);
  }
}

function tooMany(): Problem {
  const detail = `${MOST_LISTENERS} streams are open, which is the most; close one, such as a page or a "signalbox tail", and try again.`;
  return new Problem(503, "too_many_listeners", detail);
}

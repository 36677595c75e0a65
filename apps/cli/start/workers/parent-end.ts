import type { ReloadCause } from "../../../../config/running/reload-cause.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import type { Carrier, LinkEvents } from "../../../../core/pool/carrier.ts";
import { BoundedSender } from "./bounded-sender.ts";
import type { Begin, FromWorker, SharedState, ToWorker } from "./messages.ts";
import type { WorkerAdmin } from "./worker-admin.ts";

/** A reload that takes longer is given up (`config/running/running-config.ts`), so one that was frozen meanwhile takes nothing. */
const MOST_RELOAD_MS = 28_000;
const LATE = "it did not run for too long";
/** How often a worker looks whether its parent is still there. */
const LOOK_MS = 500;
/** How long a worker waits at its start for what the others know. */
const JOIN_MS = 1_000;

type Files = Extract<ToWorker, { kind: "files" }>;

/** What the parent tells a worker that serves. */
export interface Told {
  reload(cause: ReloadCause, by: string): void;
  state(state: SharedState, cause: ReloadCause, by: string): void;
}

/** The channel to the parent, as a worker sees it. */
export class ParentEnd {
  readonly parent: BoundedSender<FromWorker>;
  /** Settles when the parent is gone. */
  readonly orphaned: Promise<void>;
  readonly #links = new Map<string, LinkEvents>();
  /** Its own messages that the parent has not passed on yet. */
  readonly #published: { readonly channel: string; readonly message: string }[] = [];
  #begun: ((begin: Begin) => void) | undefined;
  #files: ((files: Files) => void) | undefined;
  #verdict: ((refusal: string) => void) | undefined;
  #askedMs = 0;
  #joined: (() => void) | undefined;
  /** Links are up from then on. */
  #hasGreeted = false;
  /** All workers are taking the files that were asked for last. */
  isCommitted = false;
  admin: WorkerAdmin | undefined;
  told: Told | undefined;

  constructor() {
    this.parent = new BoundedSender<FromWorker>(process);
    process.on("message", (message) => this.#received(message as ToWorker));
    this.orphaned = new Promise((resolve) => {
      process.once("disconnect", resolve);
      // On Deno the channel may stay as it was when the parent is killed.
      const parent = process.ppid;
      const stop = systemClock.every(LOOK_MS, () => {
        if (process.ppid === parent) return;
        stop();
        resolve();
      });
    });
  }

  /** Asks what to begin with. */
  begin(): Promise<Begin> {
    this.parent.send({ kind: "hello" });
    return new Promise((resolve) => {
      this.#begun = resolve;
    });
  }

  /** The files as they are now, for all workers alike. */
  files(): Promise<Files> {
    this.#askedMs = systemClock.now();
    this.parent.send({ kind: "want" });
    return new Promise((resolve) => {
      this.#files = resolve;
    });
  }

  /** Says whether this worker could take them; resolves to why none does, or to "". */
  vote(round: number, refusal: string): Promise<string> {
    this.parent.send({ kind: "vote", round, refusal });
    return new Promise((resolve) => {
      this.#verdict = resolve;
    });
  }

  /** Greets the other workers. Resolves once it has heard what they know, or if they take too long to say it. */
  async join(): Promise<void> {
    this.#hasGreeted = true;
    if (this.#links.size === 0) return;
    for (const events of this.#links.values()) events.up();
    this.parent.send({ kind: "join" });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, JOIN_MS);
      this.#joined = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Carries messages to the other workers; this one hears its own too. */
  readonly carrier: Carrier = (channel, events) => {
    this.#links.set(channel, events);
    const isOpen = () => this.#links.get(channel) === events;
    setImmediate(() => {
      if (isOpen() && this.#hasGreeted) events.up();
    });
    return {
      leaveBehind: (message) => this.parent.send({ kind: "lastWords", channel, message }),
      publish: (message) => {
        if (this.parent.offer({ kind: "facts", channel, message }, message.length)) this.#published.push({ channel, message });
      },
      close: () => {
        if (isOpen()) this.#links.delete(channel);
      },
    };
  };

  close(): void {
    if (process.connected) process.disconnect();
  }

  #decided(refusal: string): void {
    const isLate = refusal === "" && systemClock.now() - this.#askedMs > MOST_RELOAD_MS;
    this.isCommitted = refusal === "" && !isLate;
    this.#verdict?.(isLate ? LATE : refusal);
    if (isLate) this.parent.send({ kind: "taken", refusal: LATE });
  }

  #received(message: ToWorker): void {
    switch (message.kind) {
      case "begin":
        return this.#begun?.(message);
      case "facts":
        return this.#links.get(message.channel)?.received(message.message);
      case "ping":
        return this.parent.send({ kind: "pong" });
      case "mark":
        return this.parent.send(message);
      case "joined":
        return this.#joined?.();
      case "echo": {
        const own = this.#published.shift();
        return own && this.#links.get(own.channel)?.received(own.message);
      }
      case "reload":
        return this.told?.reload(message.cause, message.by);
      case "files":
        return this.#files?.(message);
      case "verdict":
        return this.#decided(message.refusal);
      case "state":
        return this.told?.state(message.state, message.cause, message.by);
      case "ask":
        return void this.admin?.ask(message.id, message.question);
      case "more":
        return void this.admin?.more(message.id);
      case "cancel":
        return this.admin?.cancel(message.id);
    }
  }
}

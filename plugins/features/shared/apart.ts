import type { Clock } from "../../../core/contract/clock.ts";
import { type Log, silentLog } from "../../../core/contract/log.ts";
import { whole } from "../../../core/report/number-text.ts";
import type { Refusal, Refused } from "./message.ts";

/** Why a router that is heard does not agree with this one: its messages are refused, or it says of itself that it is another kind. */
export type ApartCause = Refusal | "of another version" | "of another group" | "of other replicas" | "of other blocks";

/** A router that is heard and does not agree, for people. */
export interface ApartView {
  /** "" for a sender who is no router. */
  readonly router: string;
  readonly cause: ApartCause;
  /** In a sentence without its subject: the cause, and what mends it. */
  readonly why: string;
}

interface Sender {
  view: ApartView;
  heardMs: number;
  isTold: boolean;
}

/** Routers say that they are there each five seconds, and most something each second. */
const FORGOTTEN_MS = 15_000;
/** Whoever may write into the store can write as many. */
const MOST_SENDERS = 8;
/** Between two lines about the same cause. */
const MINUTE_MS = 60_000;
const ROUTER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Who is heard and does not agree with this router, and how often messages were refused. */
export class Apart {
  readonly refusals: Record<Refusal, number> = {
    "too long": 0,
    "without the common secret": 0,
    unreadable: 0,
    "of another time": 0,
  };
  /** Tells of them; nobody is told of workers, which their program starts alike. */
  log: Log = silentLog;
  /** There are further ones. */
  #moreMs = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #senders = new Map<string, Sender>();
  readonly #toldMs = new Map<ApartCause, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those of the last seconds. */
  views(): readonly ApartView[] {
    this.#forget();
    return [...this.#senders.values()].map(({ view }) => view);
  }

  /** Whether there are more of them than `views` has. */
  get hasMore(): boolean {
    return this.#clock.now() - this.#moreMs < FORGOTTEN_MS;
  }

  /** A message came and was not read. One that names this router itself was held up somewhere, or is a stranger's. */
  refused({ refusal, from, aheadMs }: Refused, ownId: string): void {
    this.refusals[refusal] += 1;
    if (from !== ownId) this.found(from, refusal, whyRefused(refusal, aheadMs));
  }

  /** A router is there that does not agree. */
  found(from: string, cause: ApartCause, why: string): void {
    const router = ROUTER.test(from) ? from : "";
    const sender = this.#sender(router, cause, why);
    if (sender === undefined) return;
    const nowMs = this.#clock.now();
    sender.heardMs = nowMs;
    if (sender.isTold || nowMs - (this.#toldMs.get(cause) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
    sender.isTold = true;
    this.#toldMs.set(cause, nowMs);
    this.log.warn("A router is heard that does not agree with this one", { ...(router && { router }), why });
  }

  clear(): void {
    this.#senders.clear();
    this.#moreMs = Number.NEGATIVE_INFINITY;
  }

  #sender(router: string, cause: ApartCause, why: string): Sender | undefined {
    const known = this.#senders.get(router);
    if (known !== undefined) {
      if (known.view.cause !== cause) known.isTold = false;
      if (known.view.why !== why) known.view = { router, cause, why };
      return known;
    }
    if (this.#senders.size >= MOST_SENDERS) this.#forget();
    if (this.#senders.size >= MOST_SENDERS) {
      this.#moreMs = this.#clock.now();
      return undefined;
    }
    const sender = { view: { router, cause, why }, heardMs: 0, isTold: false };
    this.#senders.set(router, sender);
    return sender;
  }

  #forget(): void {
    const nowMs = this.#clock.now();
    for (const [router, { heardMs }] of this.#senders) if (nowMs - heardMs >= FORGOTTEN_MS) this.#senders.delete(router);
  }
}

const SAME_RELEASE = "run the same release of Signalbox everywhere";

/** `aheadMs`: by so much the router's clock is before this one's. */
export function whyRefused(refusal: Refusal, aheadMs = 0): string {
  return REFUSED[refusal](aheadMs);
}

const REFUSED: Readonly<Record<Refusal, (aheadMs: number) => string>> = {
  "without the common secret": () => "it has another secret: give all routers of the pool the same spec.shared.secret",
  "of another time": (aheadMs) =>
    `its clock is ${whole(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} this router's: set the clocks of both machines`,
  unreadable: () => `its messages can't be read: ${SAME_RELEASE}`,
  "too long": () => `its messages are longer than any that are read: ${SAME_RELEASE}`,
};

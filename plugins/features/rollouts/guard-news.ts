import { BadFact, list, moment, text, whole } from "../../../core/contract/fact-fields.ts";
import type { SharedFact } from "../../../core/contract/slots/shared.ts";

/** The latest that are said again; those before them count only at routers that heard them. */
const MOST_KEPT = 200;
const DIGEST_CHARS = 43;
/** Payoffs are told in so many steps: 7 characters are enough. */
const STEPS = 10_000;

/** What one request added to a guard: a payoff of one of its tests, or a session that it has judged. */
type Entry = readonly [test: number, payoff: number] | string;

/** What a guard has seen at this router since it began. */
export class GuardNews {
  /** Another one says that the guard began anew. */
  readonly #round = crypto.getRandomValues(new Uint32Array(1))[0]!;
  #entries: { readonly entry: Entry; readonly atMs: number }[] = [];
  #dropped = 0;
  #said = 0;

  /** A little less, so that what others bet on is at most what it was. */
  static rounded(payoff: number, lowest: number): number {
    return Math.max(lowest, Math.floor(payoff * STEPS) / STEPS);
  }

  add(entry: Entry, nowMs: number): void {
    this.#entries.push({ entry, atMs: nowMs });
    if (this.#entries.length < 2 * MOST_KEPT) return;
    this.#dropped += this.#entries.length - MOST_KEPT;
    this.#entries = this.#entries.slice(-MOST_KEPT);
  }

  repeat(sinceMs: number): void {
    const first = this.#entries.findIndex(({ atMs }) => atMs >= sinceMs);
    if (first >= 0) this.#said = Math.min(this.#said, this.#dropped + first);
  }

  /** The next that are to be said, with all requests to the target that were judged here; undefined where there is nothing new. */
  say(key: string, requests: number): SharedFact | undefined {
    const end = this.#dropped + this.#entries.length;
    const first = Math.max(this.#said, this.#dropped);
    if (first === end) return undefined;
    const entries = this.#entries.slice(first - this.#dropped, first - this.#dropped + MOST_KEPT / 2);
    this.#said = first + entries.length;
    return ["seen", key, this.#round, requests, first, entries.map(({ entry }) => entry)];
  }
}

/** What other routers' guards of the same config have seen. */
export class HeardGuards {
  readonly #routers = new Map<string, { round: number; next: number; requests: number; requestsBefore: number }>();

  /** Requests to the target that other routers have judged, since the last `restart`. */
  get requests(): number {
    let sum = 0;
    for (const { requests, requestsBefore } of this.#routers.values()) sum += requests - requestsBefore;
    return sum;
  }

  restart(): void {
    for (const heard of this.#routers.values()) heard.requestsBefore = heard.requests;
  }

  /** Of what a router says, that which is new. Throws BadFact. */
  hear(router: string, [roundField, requestsField, firstField, entriesField]: readonly unknown[]): readonly Entry[] {
    const [round, requests, first] = [whole(roundField), whole(requestsField), whole(firstField)];
    const entries = list(entriesField, MOST_KEPT).map(entryOf);
    let heard = this.#routers.get(router);
    if (heard?.round !== round) {
      heard = { round, next: 0, requests: 0, requestsBefore: 0 };
      if (this.#routers.size >= MOST_ROUTERS) this.#routers.delete(this.#routers.keys().next().value!);
      this.#routers.delete(router);
      this.#routers.set(router, heard);
    }
    heard.requests = Math.max(heard.requests, requests);
    const fresh = entries.slice(Math.max(0, heard.next - first));
    heard.next = Math.max(heard.next, first + entries.length);
    return fresh;
  }
}

const MOST_ROUTERS = 256;

function entryOf(field: unknown): Entry {
  if (typeof field === "string") return text(field, DIGEST_CHARS);
  const [test, payoff] = list(field, 2);
  if (!(moment(payoff) <= 1)) throw new BadFact("a payoff above 1");
  return [whole(test), payoff as number];
}

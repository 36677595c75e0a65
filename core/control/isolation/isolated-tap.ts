import { ignoresPromise } from "../../contract/returned-promise.ts";
import type { RequestRun } from "../../contract/slots/request-run.ts";
import type { Tap, TappedResponse, TapSlot } from "../../contract/slots/tap.ts";
import type { Outside } from "./outside.ts";
import { bytesOf } from "./read-only-views.ts";

/** The tap of a feature of one's own; undefined if it does not look, or failed before it could. */
export function isolatedTap(
  tap: NonNullable<TapSlot["tap"]>,
  run: RequestRun,
  response: TappedResponse,
  outside: Outside,
): Tap | undefined {
  const state: TapState = { isReading: false, isOver: false };
  const seen = outside.views.of<TappedResponse>(new SeenResponse(response, state));
  const made = outside.told("tap", () => tap(outside.run(run), seen), undefined);
  const checked = outside.told("tap", () => checkedTap(made), undefined);
  state.isOver = checked === undefined;
  return checked && new IsolatedTap(checked, state, outside);
}

function checkedTap(made: Tap | undefined): Tap | undefined {
  const { read, end }: Partial<Tap> = made ?? {};
  if (made === undefined || (typeof read === "function" && typeof end === "function")) return made;
  throw new TypeError("tap must return nothing, or an object with read(…) and end(…)");
}

/** Gets copies of what passes, and is let go when it throws. */
class IsolatedTap implements Tap {
  #tap: Tap | undefined;
  readonly #state: TapState;
  readonly #outside: Outside;

  constructor(tap: Tap, state: TapState, outside: Outside) {
    this.#tap = tap;
    this.#state = state;
    this.#outside = outside;
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#tap === undefined) return;
    const bytes = copyOf(chunk, spans, spanCount);
    // What it inserts now would stand before the bytes that it is shown.
    this.#state.isReading = true;
    this.#call("read", (tap) => tap.read(bytes, [0, bytes.length], 1));
    this.#state.isReading = false;
  }

  paused(): void {
    this.#call("paused", (tap) => tap.paused?.());
  }

  resumed(): void {
    this.#call("resumed", (tap) => tap.resumed?.());
  }

  end(isWhole: boolean): void {
    this.#state.isOver = true;
    this.#call("end", (tap) => tap.end(isWhole));
    this.#tap = undefined;
  }

  #call(method: string, call: (tap: Tap) => unknown): void {
    if (this.#tap === undefined) return;
    try {
      if (!ignoresPromise(call(this.#tap))) return;
      this.#outside.report(new TypeError(`The tap's ${method} returned a promise, and a response waits for none`));
    } catch (thrown) {
      this.#outside.report(thrown);
    }
    this.#tap = undefined;
    this.#state.isOver = true;
  }
}

function copyOf(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): Uint8Array {
  let length = 0;
  for (let i = 0; i < spanCount; i++) length += spans[2 * i + 1]! - spans[2 * i]!;
  const copy = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < spanCount; i++) {
    copy.set(chunk.subarray(spans[2 * i]!, spans[2 * i + 1]!), at);
    at += spans[2 * i + 1]! - spans[2 * i]!;
  }
  return copy;
}

interface TapState {
  isReading: boolean;
  isOver: boolean;
}

/** The response as the tap sees it. */
class SeenResponse implements TappedResponse {
  readonly #response: TappedResponse;
  readonly #state: TapState;

  constructor(response: TappedResponse, state: TapState) {
    this.#response = response;
    this.#state = state;
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): TappedResponse["headers"] {
    return this.#response.headers;
  }

  get length(): number {
    return this.#response.length;
  }

  get isEventStream(): boolean {
    return this.#response.isEventStream;
  }

  get isBetweenEvents(): boolean {
    return !this.#state.isReading && !this.#state.isOver && this.#response.isBetweenEvents;
  }

  /** Throws TypeError where the bytes would stand inside of an event, or behind the end. */
  insert(bytes: Uint8Array): boolean {
    if (!(bytes instanceof Uint8Array)) throw new TypeError("insert takes bytes, as a Uint8Array");
    if (!this.isEventStream || !this.isBetweenEvents)
      throw new TypeError("insert is for event streams, between two events (isBetweenEvents), and not while read runs");
    return this.#response.insert(bytesOf(bytes));
  }
}

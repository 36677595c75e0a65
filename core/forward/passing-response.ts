import type { HeaderView } from "../contract/request.ts";
import type { Tap, TappedResponse } from "../contract/slots/tap.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import type { Run } from "../run.ts";
import type { WholeEvents } from "../stream/whole-events.ts";
import type { Head } from "../wire/head.ts";

/** A response on its way to the client, as taps see it. */
export class PassingResponse implements TappedResponse {
  readonly status: number;
  readonly headers: HeaderView;
  readonly length: number;
  readonly #response: ResponseWriter;
  readonly #events: WholeEvents | undefined;

  constructor(head: Head, length: number, response: ResponseWriter, events: WholeEvents | undefined) {
    this.status = head.status;
    this.headers = head;
    this.length = length;
    this.#response = response;
    this.#events = events;
  }

  get isEventStream(): boolean {
    return this.#events !== undefined;
  }

  get isBetweenEvents(): boolean {
    return this.#events?.isBetween === true;
  }

  insert(bytes: Uint8Array): boolean {
    const hasRoom = this.#response.write(bytes, [0, bytes.length], 1, false);
    this.#response.flush();
    return hasRoom;
  }
}

const NONE: readonly Tap[] = [];

/** Of the features that look at this response. Most responses have none. */
export function tapsOf(run: Run, response: TappedResponse): readonly Tap[] {
  let taps = NONE;
  for (const { plugin } of run.config.slots.tap) {
    const tap = plugin.tap(run, response);
    if (tap !== undefined) taps = [...taps, tap];
  }
  return taps;
}

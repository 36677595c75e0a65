import type { Usage } from "../../../core/contract/outcome.ts";
import type { ReaderOwner, TryReader } from "../../../core/forward/try-reader.ts";
import type { ReadConnection } from "../../../core/pool/connections.ts";
import type { Content } from "../../../core/state/traffic.ts";
import type { Flaw } from "../../../core/stream/response-check.ts";
import { errorIn } from "../../../core/stream/said-error.ts";
import type { Framing } from "../../../core/wire/framing.ts";
import type { Head } from "../../../core/wire/head.ts";
import { isEventStream } from "../../../core/wire/media-type.ts";
import type { UpstreamFailure } from "../../../core/wire/response-reader.ts";

/** What an engine means by an error event that comes in place of the first token: it could not fetch what was transferred. */
const NOT_FETCHED = 500;

/**
 * Keeps the head of an answer back until its first bytes come. Engines send the head of a stream before they fetch what was transferred:
 * as long as the client has seen nothing, all of the request can be sent instead.
 */
export class HeldHead implements TryReader {
  readonly connection: ReadConnection;
  readonly #relay: TryReader;
  #owner!: ReaderOwner;
  #held: { readonly head: Head; readonly framing: Framing } | undefined;

  constructor(relay: TryReader) {
    this.connection = relay.connection;
    this.#relay = relay;
  }

  get takesErrorEvent(): boolean {
    return this.#relay.takesErrorEvent;
  }

  get awaitsToken(): boolean {
    return this.#relay.awaitsToken;
  }

  get isStream(): boolean {
    return this.#relay.isStream;
  }

  get hasTokens(): boolean {
    return this.#relay.hasTokens;
  }

  get usage(): Usage | undefined {
    return this.#relay.usage;
  }

  get content(): Content {
    return this.#relay.content;
  }

  reportTo(owner: ReaderOwner): void {
    this.#owner = owner;
    this.#relay.reportTo(owner);
  }

  resume(): void {
    this.#relay.resume();
  }

  endResponse(isVerbatimEnd: boolean): void {
    this.#relay.endResponse(isVerbatimEnd);
  }

  flaw(): Flaw | undefined {
    return this.#relay.flaw();
  }

  hasEnd(): boolean {
    return this.#relay.hasEnd();
  }

  close(isSound: boolean): void {
    this.#held = undefined;
    this.#relay.close(isSound);
  }

  // Called by the connection while it reads the response.

  head(head: Head, framing: Framing): void {
    if (head.status < 300 && isEventStream(head)) this.#held = { head, framing };
    else this.#relay.head(head, framing);
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    const isFirst = this.#held !== undefined;
    if (isFirst && spanCount > 0 && errorIn(chunk.subarray(spans[0], spans[1]), true) !== "" && !this.#owner.refused(NOT_FETCHED))
      return;
    this.#passOn();
    this.#relay.body(chunk, spans, spanCount, isVerbatim);
  }

  readDone(): void {
    if (this.#held === undefined) this.#relay.readDone();
  }

  end(isVerbatimEnd: boolean): void {
    this.#passOn();
    this.#relay.end(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#relay.failed(failure, isDelivered);
  }

  #passOn(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#relay.head(held.head, held.framing);
  }
}

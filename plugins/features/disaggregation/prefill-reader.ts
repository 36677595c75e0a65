import type { Usage } from "../../../core/contract/outcome.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { ReaderOwner, TryReader } from "../../../core/forward/try-reader.ts";
import type { ReadConnection } from "../../../core/pool/connections.ts";
import type { Services } from "../../../core/services.ts";
import type { Flaw } from "../../../core/stream/response-check.ts";
import { UsageTap } from "../../../core/stream/usage-tap.ts";
import type { Head } from "../../../core/wire/head.ts";
import type { UpstreamFailure } from "../../../core/wire/response-reader.ts";

/** A prompt of a million tokens has some 60,000 blocks, whose numbers take half of that. */
const MOST_BYTES = 4 * 1024 * 1024;
const NO_BYTES = new Uint8Array(0);

/** Gathers the response of a prompt's try, which no client gets. */
export class PrefillReader implements TryReader {
  readonly connection: ReadConnection;
  readonly takesErrorEvent = false;
  /** Its response comes as soon as the prompt is processed. */
  readonly isStream = true;
  readonly content = "unread";
  readonly #clock: Services["clock"];
  readonly #tap: UsageTap;
  readonly #keepsBody: boolean;
  readonly #parts: Buffer[] = [];
  #owner!: ReaderOwner;
  #usage: Usage | undefined;
  #status = 0;
  #bytes = 0;
  #hasTokens = false;
  #isBodyFreed = false;
  #isOver = false;

  /** `keepsBody`: the body says where the cache is. */
  constructor(request: InferenceRequest, connection: ReadConnection, clock: Services["clock"], keepsBody: boolean) {
    this.connection = connection;
    this.#clock = clock;
    this.#tap = new UsageTap(request.dialect, "document");
    this.#keepsBody = keepsBody;
  }

  /** Of the response; 0 before its head. */
  get status(): number {
    return this.#status;
  }

  /** The whole body; empty before its end, and where it is not kept. */
  get whole(): Uint8Array {
    return this.#isOver && this.#bytes <= MOST_BYTES ? Buffer.concat(this.#parts) : NO_BYTES;
  }

  get hasTokens(): boolean {
    return this.#hasTokens;
  }

  get awaitsToken(): boolean {
    return !this.#hasTokens && this.#status < 300;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  reportTo(owner: ReaderOwner): void {
    this.#owner = owner;
  }

  /** Nobody gets it. */
  resume(): void {}
  endResponse(): void {}

  flaw(): Flaw | undefined {
    return undefined;
  }

  hasEnd(): boolean {
    return false;
  }

  close(isSound: boolean): void {
    this.#isOver = true;
    this.#usage = this.#tap.finish(isSound, this.#bytes, undefined, Number.POSITIVE_INFINITY).usage;
  }

  // Called by the connection while it reads the response.

  head(head: Head): void {
    if (this.#owner.responded(head)) this.#status = head.status;
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver) return;
    if (!this.#hasTokens && this.#status < 300) this.#owner.promptProcessed(this.#clock.now(), true);
    this.#hasTokens = true;
    this.#tap.read(chunk, spans, spanCount);
    for (let i = 0; i < spanCount; i++) {
      const part = chunk.subarray(spans[2 * i], spans[2 * i + 1]);
      this.#bytes += part.length;
      if (this.#keepsBody && this.#bytes <= MOST_BYTES) this.#parts.push(Buffer.from(part));
    }
    if (this.#keepsBody && this.#bytes > MOST_BYTES) this.#endTooLong();
  }

  readDone(): void {
    this.#tap.readDone();
    if (!this.#isOver && !this.#isBodyFreed && this.#status > 0 && this.connection.hasSentAll)
      this.#isBodyFreed = this.#owner.delivered();
  }

  end(isVerbatimEnd: boolean): void {
    this.#owner.completed(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#owner.failed(failure, isDelivered);
  }

  /** It may have no end. */
  #endTooLong(): void {
    this.connection.destroy();
    this.#owner.failed("invalid", true);
  }
}

import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Pool } from "../pool/pool.ts";
import type { UnlistedUse } from "../state/unlisted-names.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";

/** A longer body of a 404 is not read: it is passed on. */
const LONGEST_MESSAGE = 8 * 1024;

export interface UnlistedOwner {
  /** A whole 404 came for a target that the endpoint does not list. Returns whether it is passed on; if not, the try is over. */
  missedTarget(): boolean;
}

interface HeldResponse {
  readonly head: Head;
  readonly framing: Framing;
  readonly parts: Buffer[];
  bytes: number;
}

/**
 * Reads the response of an endpoint that does not list the target: its replica loads the target, or responds with 404. A 404 is
 * kept back until its body shows what the replica does not have; all else goes on to the relay at once.
 */
export class UnlistedTry implements ResponseReader {
  readonly #endpoint: Endpoint;
  readonly #request: InferenceRequest;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #relay: ResponseReader;
  readonly #owner: UnlistedOwner;
  readonly #use: UnlistedUse;
  readonly #sentAtMs: number;
  /** How long the replica is busy with other prompts. */
  readonly #queueMs: number;
  #held: HeldResponse | undefined;
  /** The beginning was kept back, so nothing can be passed on in the replica's own framing. */
  #wasHeld = false;

  private constructor(
    request: InferenceRequest,
    endpoint: Endpoint,
    pool: Pool,
    clock: Clock,
    relay: ResponseReader,
    owner: UnlistedOwner,
  ) {
    const { load } = pool;
    const { slot } = endpoint;
    this.#request = request;
    this.#endpoint = endpoint;
    this.#pool = pool;
    this.#clock = clock;
    this.#relay = relay;
    this.#owner = owner;
    this.#sentAtMs = clock.now();
    this.#queueMs = load.remainingPrefill(slot, this.#sentAtMs) / load.prefillRate(slot, this.#sentAtMs);
    this.#use = load.unlisted.sent(slot, request.target, this.#sentAtMs);
  }

  /** Undefined where the endpoint lists the target, or must not be asked to load it. Close what it returns. */
  static of(
    request: InferenceRequest,
    endpoint: Endpoint,
    pool: Pool,
    clock: Clock,
    relay: ResponseReader,
    owner: UnlistedOwner,
  ): UnlistedTry | undefined {
    if (request.onDemand === "never" || endpoint.models.has(request.target)) return undefined;
    return new UnlistedTry(request, endpoint, pool, clock, relay, owner);
  }

  get isStream(): boolean {
    return this.#relay.isStream;
  }

  get hasTokens(): boolean {
    return this.#relay.hasTokens;
  }

  /** Whether the whole response was kept back: then its connection can carry the next request. */
  get hasWhole(): boolean {
    return this.#wasHeld;
  }

  /** The try is over, however it ended. */
  close(): void {
    this.#pool.load.unlisted.ended(this.#use);
  }

  // Called by the connection while it reads the response.

  head(head: Head, framing: Framing): void {
    if (head.status === 404) {
      this.#held = { head, framing, parts: [], bytes: 0 };
      return;
    }
    this.#learn(head.status);
    this.#relay.head(head, framing);
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    const held = this.#held;
    if (held === undefined) return this.#relay.body(chunk, spans, spanCount, isVerbatim && !this.#wasHeld);
    for (let i = 0; i < spanCount; i++) {
      const part = Buffer.from(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
      held.parts.push(part);
      held.bytes += part.length;
    }
    if (held.bytes > LONGEST_MESSAGE) this.#passOn(held);
  }

  readDone(): void {
    this.#relay.readDone();
  }

  end(isVerbatimEnd: boolean): void {
    const held = this.#held;
    if (held !== undefined) {
      this.#wasHeld = true;
      if (this.#isRefusal(held) && !this.#owner.missedTarget()) return;
      this.#passOn(held);
    }
    this.#relay.end(isVerbatimEnd && !this.#wasHeld);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#relay.failed(failure, isDelivered);
  }

  #passOn({ head, framing, parts, bytes }: HeldResponse): void {
    this.#held = undefined;
    this.#wasHeld = true;
    this.#learn(head.status);
    this.#relay.head(head, framing);
    if (bytes > 0) this.#relay.body(Buffer.concat(parts), [0, bytes], 1, false);
  }

  /** Whether the replica does not have the target, or the path. Then it is not asked for that for a while. */
  #isRefusal({ parts }: HeldResponse): boolean {
    const refused = refusedBy(Buffer.concat(parts).toString("utf8"), this.#request);
    if (refused === undefined) return false;
    const { load } = this.#pool;
    if (load.isCurrent(this.#endpoint)) load.unlisted.refused(this.#endpoint.slot, refused, this.#clock.now());
    return true;
  }

  /** A response that is no refusal: whatever it says of the request, the target may be loaded now, and the list shows it. */
  #learn(status: number): void {
    const { load, control } = this.#pool;
    if (!load.isCurrent(this.#endpoint) || status >= 500) return;
    control.checkModels(this.#endpoint);
    if (status >= 300) return;
    const { slot } = this.#endpoint;
    const { target, isStream } = this.#request;
    const nowMs = this.#clock.now();
    const isFirst = load.unlisted.at(slot, target, nowMs)?.standing !== "served" && this.#use.openSinceMs === this.#sentAtMs;
    // Only a stream's head comes before the prompt and the answer are computed.
    if (isFirst) load.unlisted.loaded(nowMs - this.#sentAtMs - this.#queueMs, isStream);
    load.unlisted.served(slot, target, nowMs);
  }
}

/**
 * What the replica says with this body of a 404 that it does not have: the target, or the path where the body is no error of an
 * API. Undefined for any other error.
 */
export function refusedBy(text: string, { target, path }: InferenceRequest): string | undefined {
  const body = readJson(text);
  const message = body?.error?.message ?? body?.message ?? body?.detail;
  if (namesModel(typeof message === "string" ? message : text, target)) return target;
  return body?.error ? undefined : path;
}

/** The shapes of OpenAI, Anthropic and FastAPI. */
interface ErrorBody {
  readonly error?: { readonly message?: unknown } | null;
  readonly message?: unknown;
  readonly detail?: unknown;
}

function readJson(text: string): ErrorBody | undefined {
  try {
    return (JSON.parse(text) as ErrorBody | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Whether the message names the model as a word: a short name must not be found inside others. */
function namesModel(message: string, model: string): boolean {
  for (let at = message.indexOf(model); at >= 0; at = message.indexOf(model, at + 1)) {
    if (!isNamePart(message[at - 1]) && !isNamePart(message[at + model.length])) return true;
  }
  return false;
}

function isNamePart(char = ""): boolean {
  return /[A-Za-z0-9_-]/.test(char);
}

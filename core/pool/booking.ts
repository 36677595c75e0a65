import type { LegRole } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { uncachedTokens } from "../contract/expected-wait.ts";
import type { AttemptFailure, Usage } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { LoadTable } from "../state/load.ts";
import { tokensOf } from "../state/part-scale.ts";
import type { PrefillWork } from "../state/prefill-queue.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { ReplicaSpeed } from "../state/replica-speeds.ts";
import type { TokenScale } from "../state/token-scale.ts";
import type { Content, Traffic } from "../state/traffic.ts";
import type { Pool } from "./pool.ts";

/**
 * What one try takes at one endpoint: a share of its load, a place for the prompt in its cache, and, through `traffic`, its trial and
 * its record. It knows no bytes. The holder must call `settled` however the try ends; calling a method a second time has no effect.
 * When another replica has the endpoint's slot by now, late calls leave that replica's cache as it is. Moments are in milliseconds on
 * the router's clock.
 */
export class Booking implements PrefillWork {
  readonly request: InferenceRequest;
  readonly endpoint: Endpoint;
  readonly beganAtMs: number;
  /** Prompt tokens believed to be in the endpoint's cache. */
  readonly predictedTokens: number;
  /** Prompt tokens that the endpoint has to process for it. */
  readonly tokens: number;
  /** Whether the first byte of the response shows that the prompt is processed. */
  readonly hasFirstByte: boolean;
  /** What the endpoint does of the request; undefined: all of it. */
  readonly #role: LegRole | undefined;
  readonly #load: LoadTable;
  readonly #prefixIndex: PrefixIndex | undefined;
  readonly #tokenScale: TokenScale;
  readonly #traffic: Traffic;
  readonly #speed: ReplicaSpeed;
  /** Prompt tokens that the endpoint processes before this request's first token, its own included. */
  readonly #tokensAhead: number;
  #phase: "prefill" | "decode" | "over" = "prefill";
  #prompt: "expected" | "cached" | "refused" = "expected";
  /** Of the response that came; 0 before. */
  #status = 0;
  /** The client takes nothing, so the response is not read. */
  #isHeld = false;
  /** Prompt tokens that were not cached, and how many of them may have been after all. */
  #uncached: number;
  #uncertain: number;
  /** True if its adapter is loaded for it: its first token says nothing of the engine's speed. */
  readonly #loadsAdapter: boolean;
  /** What the prompt took; NaN if that is unknown, or the speed has learned it. */
  #tookMs = Number.NaN;
  /** How long the first token of a stream took; NaN if there is none, or it was told. */
  #firstTokenMs = Number.NaN;

  /** `traffic` is UNWATCHED for a try that says nothing about the endpoint. */
  constructor(request: InferenceRequest, endpoint: Endpoint, pool: Pool, traffic: Traffic, nowMs: number, role?: LegRole) {
    const { load, prefixIndex, tokenScale } = pool;
    const { slot } = endpoint;
    this.request = request;
    this.endpoint = endpoint;
    this.beganAtMs = nowMs;
    this.predictedTokens = request.prefix.matchedTokens(slot);
    this.#role = role;
    // Whole numbers, so that a million sums leave no residue.
    this.tokens = role === "decode" ? 0 : Math.round(uncachedTokens(request, slot));
    this.hasFirstByte = role === undefined ? request.isStream : role === "prefill";
    this.#load = load;
    this.#prefixIndex = prefixIndex;
    this.#tokenScale = tokenScale;
    this.#traffic = traffic;
    this.#speed = load.speedOf(slot);
    this.#tokensAhead = load.remainingPrefill(slot, nowMs) + this.tokens;
    this.#uncached = this.tokens;
    this.#uncertain = Math.min(this.tokens, uncertainTokens(request, slot));
    load.begin(slot, this, nowMs);
    load.heard?.began(this);
    this.#loadsAdapter = load.residents?.began(this) === true;
    // A few bytes may name a file elsewhere that has many tokens: such a prompt evicts nothing before the replica has processed it.
    if (request.promptParts.length === 0) this.#admit();
  }

  /** The request goes to the endpoint. */
  sent(): void {
    this.#traffic.sent(this.request, this.endpoint, this.beganAtMs);
  }

  /** The head of a response came. An error's prompt was not processed. */
  responded(status: number): void {
    this.#status = status;
    if (status >= 400) this.#withdraw();
    if (status !== 101) return;
    // A session's silences say nothing, nor is it for one that lasts hours to try the endpoint: only its end tells.
    this.#traffic.abandoned(this.request, this.endpoint, this.beganAtMs);
    this.#isHeld = true;
  }

  /**
   * The first body byte after the stream's opening events came: the prompt is processed, unless the response is an error. `hasContent`:
   * something was generated; else the end of the response says whether the time teaches anything.
   */
  firstToken(nowMs: number, hasContent = true): void {
    if (this.#phase !== "prefill" || this.#prompt === "refused") return;
    this.#endPrefill(true, nowMs);
    if (this.request.isStream && this.#role === undefined && this.#status < 300) this.#firstTokenMs = nowMs - this.beganAtMs;
    if (hasContent) this.#learnFirstToken(nowMs);
    this.#admit();
  }

  /** The client takes nothing: the endpoint's silence says nothing until `released`. */
  held(): void {
    if (this.#isHeld || this.#phase === "over") return;
    this.#isHeld = true;
    this.#traffic.held(this.request, this.endpoint);
  }

  released(nowMs: number): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#traffic.released(this.request, this.endpoint, nowMs);
  }

  /**
   * The try is over: gives everything back, and tells who learns from it. `result` is the status of a whole response, or why there
   * is none; `usage` is what the replica reported at its end; `lack` is what a malformed response lacks. An answer without content
   * teaches nothing, unless that is usual: a replica that answers so is quick, and may have processed nothing.
   */
  settled(
    result: number | AttemptFailure,
    usage: Usage | undefined,
    nowMs: number,
    lack = "",
    content: Content = "unread",
  ): void {
    if (this.#phase === "over") return;
    // Where tokens were counted, the content may be of a kind that is not known.
    const isEmpty = content === "none" && !(usage !== undefined && usage.outputTokens > 1);
    const isOdd = isEmpty && !this.#traffic.takesEmpty(this.request, this.endpoint);
    if (isOdd || !this.#wasProcessed(result, nowMs)) this.#withdraw();
    this.released(nowMs);
    if (usage !== undefined && !isOdd) this.#learn(usage);
    this.#endPrefill(false, nowMs);
    this.#phase = "over";
    this.#load.end(this.endpoint.slot);
    this.#load.heard?.ended(this);
    this.#load.residents?.ended(this, this.#status > 0 && this.#status < 400);
    if (result !== "malformed" && !isOdd) {
      this.#measure(nowMs);
      this.#tellFirstToken();
    }
    this.#tellTraffic(result, nowMs, lack, content);
  }

  /**
   * No cache holds a prompt that was given up while it waited behind others. Whether a cache holds it after a malformed response is
   * unknown.
   */
  #wasProcessed(result: number | AttemptFailure, nowMs: number): boolean {
    if (typeof result === "number") return true;
    if (result === "malformed") return false;
    if (result !== "aborted") return this.#status !== 0;
    return this.#phase !== "prefill" || this.#load.hasBegun(this.endpoint.slot, this, nowMs);
  }

  #learnFirstToken(nowMs: number): void {
    // A report at the end of the response will say more.
    if (!this.#speed.isReported) this.#measure(nowMs);
    this.#tellFirstToken();
  }

  #tellFirstToken(): void {
    if (Number.isNaN(this.#firstTokenMs)) return;
    this.#traffic.firstToken(this.request, this.endpoint, this.#firstTokenMs, this.#tokensAhead);
    this.#load.residents?.firstToken(this, this.#firstTokenMs, this.#tokensAhead);
    this.#firstTokenMs = Number.NaN;
  }

  #tellTraffic(result: number | AttemptFailure, nowMs: number, lack: string, content: Content): void {
    const { endpoint, beganAtMs } = this;
    if (typeof result === "number") this.#traffic.responded(this.request, endpoint, result, beganAtMs, nowMs, content);
    else if (result === "malformed") this.#traffic.malformed(this.request, endpoint, lack, beganAtMs, nowMs);
    else if (result === "aborted") this.#traffic.abandoned(this.request, endpoint, beganAtMs);
    else this.#traffic.failed(this.request, endpoint, result, beganAtMs, nowMs);
  }

  #learn(usage: Usage): void {
    this.#tokenScale.reported(this.request, usage);
    if (!this.#isCurrent()) return;
    const { promptTokens, cachedTokens, outputTokens } = usage;
    const { slot } = this.endpoint;
    // Engines count as not cached what was transferred.
    if (cachedTokens !== undefined && this.#role !== "decode") {
      if (promptTokens >= cachedTokens) {
        this.#speed.isReported = true;
        this.#uncached = promptTokens - cachedTokens;
        this.#uncertain = 0;
      }
      this.#prefixIndex?.reported(this.request.prefix, slot, cachedTokens);
    }
    if (!(outputTokens > 0)) return;
    this.#prefixIndex?.generated(this.request.prefix, slot, outputTokens);
    this.#load.heard?.generated(this, outputTokens);
  }

  #admit(): void {
    if (this.#prompt !== "expected" || !this.#isCurrent()) return;
    this.#prompt = "cached";
    this.#prefixIndex?.admit(this.request.prefix, this.endpoint.slot);
    this.#load.heard?.cached(this);
  }

  /** The replica did not process the prompt: removes it from the prefix index again. */
  #withdraw(): void {
    const wasCached = this.#prompt === "cached";
    this.#prompt = "refused";
    if (!wasCached || !this.#isCurrent()) return;
    this.#prefixIndex?.withdraw(this.request.prefix, this.endpoint.slot);
    this.#load.heard?.withdrawn(this);
  }

  #endPrefill(isProcessed: boolean, nowMs: number): void {
    if (this.#phase !== "prefill") return;
    this.#phase = "decode";
    this.#tookMs = this.#load.endPrefill(this.endpoint.slot, this, isProcessed, nowMs);
    this.#load.heard?.prefillEnded(this, isProcessed);
  }

  #measure(nowMs: number): void {
    if (Number.isNaN(this.#tookMs)) return;
    if (!this.#loadsAdapter) this.#speed.measured(this.#uncached, this.#uncertain, this.#tookMs, nowMs);
    this.#tookMs = Number.NaN;
  }

  #isCurrent(): boolean {
    return this.#load.isCurrent(this.endpoint);
  }
}

/**
 * Tokens that may not have to be computed: those of parts that are not text, which are guessed, and what may be cached beyond the
 * whole blocks that are known to be: a part of the next block, or of the prompt's end after its last whole block.
 */
function uncertainTokens({ prefix, promptTokens, promptParts }: InferenceRequest, slot: number): number {
  const held = prefix.matchedBlocks(slot);
  const guessed = tokensOf(promptParts);
  if (held === 0) return guessed;
  return guessed + Math.ceil(held < prefix.blocks ? (prefix.tokensIn?.(held) ?? 0) : promptTokens);
}

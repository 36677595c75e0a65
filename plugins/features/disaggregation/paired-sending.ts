import type { Profile } from "../../../core/active-config.ts";
import type { Leg } from "../../../core/contract/decision.ts";
import type { Draft } from "../../../core/contract/draft.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { RouterError } from "../../../core/contract/errors.ts";
import type { Attempt } from "../../../core/contract/outcome.ts";
import type { ForwardOwner, Sending } from "../../../core/contract/slots/send.ts";
import { FIRST_TRY } from "../../../core/contract/trace.ts";
import { upstreamError } from "../../../core/errors/upstream-errors.ts";
import { Forward } from "../../../core/forward/forward.ts";
import { Relay } from "../../../core/forward/relay.ts";
import type { LegTries } from "../../../core/forward/try.ts";
import type { TryReader } from "../../../core/forward/try-reader.ts";
import type { Booking } from "../../../core/pool/booking.ts";
import type { ReplicaConnection } from "../../../core/pool/connections.ts";
import type { Run } from "../../../core/run.ts";
import { HeldHead } from "./held-head.ts";
import { answerDraft, promptDraft, toldDraft, wholeDraft } from "./pair-drafts.ts";
import { newRecord, newRoom, noteAlone, type OpenRecord, patienceMs, reservation } from "./pair-record.ts";
import type { Planning } from "./planning.ts";
import { PrefillLeg, type PrefillOwner } from "./prefill-leg.ts";
import type { Pair, Transfer } from "./transfer.ts";
import type { TransferTimes } from "./transfer-times.ts";

/** What the pairs of a config have in common. */
export interface PairParts {
  readonly transfer: Transfer;
  readonly planning: Planning;
  readonly times: TransferTimes;
  /** A prompt's leg that takes longer is given up. */
  readonly timeoutMs: number;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Sends one request to a pair of endpoints: its prompt to one of them, and the request for the answer to the other, whose response the
 * client gets. Where that fails before anything was answered, the answer's endpoint does all of it, or another pair follows where it can't.
 */
export class PairedSending implements Sending, ForwardOwner, PrefillOwner, LegTries {
  readonly firstSpan = FIRST_TRY;
  readonly profile: Profile;
  readonly attempts: Attempt[];
  readonly #run: Run;
  readonly #owner: ForwardOwner;
  readonly #parts: PairParts;
  readonly #record: OpenRecord;
  readonly #prefillTries: Attempt[] = [];
  readonly #decodeLeg: Leg;
  readonly #decodeEndpoint: Endpoint;
  #prefillLeg: Leg;
  /** The one that counts. */
  #prefill: PrefillLeg | undefined;
  /** All, because connections of those that were given up may still have to write the body. */
  readonly #prompts: PrefillLeg[] = [];
  #decode: Sending | undefined;
  /** At the endpoint that has not got the request yet, or gets it from the other one. */
  #reserved: Booking | undefined;
  #decodeBeganAtMs = Number.NaN;
  #hadMet = false;
  #mayPairAgain: boolean;
  #isDecodeDelivered = false;
  #isOver = false;

  /** Call `begin` when it is stored. The ticket's decision has a leg for the answer and one for the prompt. */
  constructor(run: Run, owner: ForwardOwner, parts: PairParts) {
    const { ticket, config } = run;
    const [decodeLeg, prefillLeg] = ticket.decision!.legs;
    this.#run = run;
    this.#owner = owner;
    this.#parts = parts;
    this.#decodeLeg = decodeLeg!;
    this.#prefillLeg = prefillLeg!;
    this.#decodeEndpoint = decodeLeg!.order[0]!;
    this.#mayPairAgain = !parts.transfer.answersAlone;
    this.#record = newRecord(parts.transfer.type, prefillLeg!.order[0]!, this.#prefillTries);
    this.attempts = ticket.attempts;
    this.profile = parts.planning.profileOf("decode", config.profile);
    ticket.prefill = this.#record;
  }

  begin(nowMs: number): void {
    const { ticket, pool } = this.#run;
    const { order } = this.#parts.transfer;
    const isRateKnown = pool.load.at(nowMs).isRateKnown(this.#prefillLeg.order[0]!.slot);
    ticket.expectedFirstByteMs = isRateKnown ? ticket.decision!.pairing!.pairMs : Number.NaN;
    if (order === "told") return this.#tell(nowMs);
    // Others that come meanwhile must see it there.
    if (order === "first") this.#reserved = reservation(this.#run, this.#decodeEndpoint, "decode", nowMs);
    const pair = this.#beginPair(nowMs);
    if (order === "together") this.#sendDecode(pair, NO_BYTES, nowMs);
  }

  /** The answer's endpoint did not have the target: another one was chosen for all of the request. */
  beginAgain(nowMs: number): void {
    this.#decode!.beginAgain(nowMs);
  }

  get takesErrorEvent(): boolean {
    return this.#decode?.takesErrorEvent === true;
  }

  drained(): void {
    this.#decode?.drained();
  }

  close(): boolean {
    this.#isOver = true;
    this.#release();
    for (const prompt of this.#prompts) prompt.close();
    return (this.#decode?.close() ?? true) && this.#hasPromptsDelivered;
  }

  /** The replica of this endpoint has gone: what it has of the prompt can't be fetched any more. */
  replicaGone({ slot, generation }: Endpoint): void {
    const prefill = this.#prefill?.endpoint;
    const isAwaited = this.#record.end === "" && this.#prefill?.isOver === true;
    if (!isAwaited || prefill?.slot !== slot || prefill.generation !== generation) return;
    if (this.#decode instanceof Forward) this.#decode.sendAgain("gone");
  }

  // Reports from the prompt's leg.

  prefilled(leg: PrefillLeg): void {
    const nowMs = this.#run.parts.services.clock.now();
    this.#record.tookMs = nowMs - this.#run.ticket.times.headAtMs - (this.#prefillTries[0]?.startedMs ?? Number.NaN);
    this.#record.endpoint = leg.endpoint.name;
    this.#record.cachedTokens = leg.cachedTokens;
    if (this.#parts.transfer.order === "first") this.#sendDecode({ prefill: leg.endpoint, room: "" }, leg.response, nowMs);
  }

  prefillFailed(cause: string, error = upstreamError("reset")): void {
    const { clock } = this.#run.parts.services;
    this.#record.endpoint = this.#prefill?.endpoint.name ?? "";
    if (this.#parts.transfer.order === "first") return this.#alone(cause, clock.now());
    const failed = this.#prefill;
    // Later, because it may fail while the request for the answer is being sent, and what one engine refuses, the other one does, too.
    clock.after(patienceMs(cause), () => failed === this.#prefill && this.#pairLost(cause, error));
  }

  prefillDelivered(): void {
    if (this.#isDecodeDelivered && !this.#isOver && this.#hasPromptsDelivered) this.#owner.bodyDelivered();
  }

  // Called by the answer's tries.

  readerFor(endpoint: Endpoint, connection: ReplicaConnection): TryReader {
    const relay = new Relay(endpoint, connection, this.#run);
    return this.#record.end === "" ? new HeldHead(relay) : relay;
  }

  /** What was delivered in vain is not fetched again: its endpoint does all of the request, or meets another one. */
  again(isCounted: boolean): Draft | undefined {
    const { transfer } = this.#parts;
    if (this.#record.end === "alone" || this.#record.end === "transferred") return undefined;
    if (transfer.answersAlone) {
      this.#release();
      noteAlone(this.#record, "the transfer failed");
      return wholeDraft(this.#run);
    }
    if (!isCounted && !this.#mayPairAgain) return undefined;
    this.#mayPairAgain &&= isCounted;
    this.#prefill?.close();
    const { order } = this.#prefillLeg;
    this.#prefillLeg = { ...this.#prefillLeg, order: [...order.slice(1), order[0]!] };
    return answerDraft(this.#run, transfer, this.#beginPair(this.#run.parts.services.clock.now()), NO_BYTES);
  }

  promptProcessed(nowMs: number): void {
    const { ticket } = this.#run;
    if (ticket.status >= 300) return;
    this.#reserved?.firstToken(nowMs);
    this.#reserved?.settled(200, undefined, nowMs);
    this.#reserved = undefined;
    if (this.#record.end !== "") return;
    this.#record.end = "transferred";
    // Of a response that comes whole, and of further tries, this is no transfer's time.
    const prompt = this.#parts.transfer.order === "first" ? this.#prefill : undefined;
    if (!ticket.request!.isStream || prompt === undefined || ticket.attempts.length > 0) return;
    this.#record.transferMs = nowMs - this.#decodeBeganAtMs;
    this.#parts.times.seen(this.#tokens, this.#record.transferMs, prompt.endpoint, this.#decodeEndpoint, this.#hadMet);
  }

  // Reports from the answer's leg.

  bodyDelivered(): void {
    this.#isDecodeDelivered = true;
    if (this.#hasPromptsDelivered) this.#owner.bodyDelivered();
  }

  completed(): void {
    const { response, parts } = this.#run;
    // A gateway may show no more of a response than its head.
    if (response.gateway !== undefined) this.promptProcessed(parts.services.clock.now());
    this.#release();
    this.#owner.completed();
  }

  failed(error: RouterError): void {
    this.#release();
    this.#owner.failed(error);
  }

  unreached(error: RouterError): void {
    noteAlone(this.#record, error.code);
    this.#owner.unreached(error);
  }

  missedTarget(): void {
    noteAlone(this.#record, "status 404");
    this.#owner.missedTarget();
  }

  /** Has the answer's endpoint, or the gateway in front of it, ask the prompt's endpoint by itself. */
  #tell(nowMs: number): void {
    const run = this.#run;
    const prefill = this.#prefillLeg.order[0]!;
    const { gateway } = run.response;
    const draft = toldDraft(run, this.#parts.transfer, prefill);
    this.#reserved = reservation(run, prefill, "prefill", nowMs);
    this.#decode =
      gateway === undefined
        ? new Forward(run, run.ticket.request!, this.#decodeLeg, draft, this, this)
        : gateway.handOver(run, this.#decodeLeg, draft, this);
    this.#decode.begin(nowMs);
  }

  #beginPair(nowMs: number): Pair {
    const run = this.#run;
    const { transfer, planning, timeoutMs } = this.#parts;
    const pair = { prefill: this.#prefillLeg.order[0]!, room: newRoom(run) };
    const isFirst = transfer.order === "first";
    this.#prefill = new PrefillLeg(
      run,
      {
        // Whoever is to be met can't be another one.
        leg: isFirst ? this.#prefillLeg : { ...this.#prefillLeg, order: [pair.prefill] },
        draft: promptDraft(run, transfer, pair),
        profile: planning.profileOf("prefill", run.config.profile),
        attempts: this.#prefillTries,
        keepsResponse: isFirst,
        timeoutMs,
      },
      this,
    );
    this.#prompts.push(this.#prefill);
    this.#prefill.begin(nowMs);
    return pair;
  }

  #sendDecode(pair: Pair, response: Uint8Array, nowMs: number): void {
    const run = this.#run;
    const draft = answerDraft(run, this.#parts.transfer, pair, response);
    if (draft === undefined) return this.#alone("its response says nothing of a transfer", nowMs);
    const { times } = this.#parts;
    this.#release();
    this.#hadMet = times.hasMet(pair.prefill, this.#decodeEndpoint);
    this.#decodeBeganAtMs = nowMs;
    this.#record.expectedTransferMs = times.expectedMs(this.#tokens, pair.prefill, this.#decodeEndpoint);
    this.#decode = new Forward(run, run.ticket.request!, this.#decodeLeg, draft, this, this);
    this.#decode.begin(nowMs);
  }

  /** The answer's endpoint does all of the request. */
  #alone(cause: string, nowMs: number): void {
    const run = this.#run;
    const { role: _, ...leg } = this.#decodeLeg;
    this.#release();
    noteAlone(this.#record, cause);
    this.#decode = new Forward(run, run.ticket.request!, leg, wholeDraft(run), this, this);
    this.#decode.begin(nowMs);
  }

  get #hasPromptsDelivered(): boolean {
    return this.#prompts.every(({ isBodyFree }) => isBodyFree);
  }

  /** Of two that meet, the prompt's leg has failed: the other one waits for nobody, unless it has refused the request as well. */
  #pairLost(cause: string, error: RouterError): void {
    if (this.#isOver || this.#record.end !== "" || this.#run.ticket.status >= 400) return;
    const decode = this.#decode as Forward;
    if (decode.sendAgain("aborted")) return;
    noteAlone(this.#record, cause);
    this.#owner.failed(error);
  }

  /** Those that are transferred. */
  get #tokens(): number {
    return this.#run.ticket.decision!.pairing!.uncachedTokens;
  }

  #release(): void {
    this.#reserved?.settled("passed-over", undefined, this.#run.parts.services.clock.now());
    this.#reserved = undefined;
  }
}

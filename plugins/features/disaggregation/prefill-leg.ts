import type { Profile } from "../../../core/active-config.ts";
import type { Leg } from "../../../core/contract/decision.ts";
import type { Draft } from "../../../core/contract/draft.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { RouterError } from "../../../core/contract/errors.ts";
import type { Attempt } from "../../../core/contract/outcome.ts";
import type { ForwardOwner } from "../../../core/contract/slots/send.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { FIRST_PROMPT_TRY } from "../../../core/contract/trace.ts";
import { Forward } from "../../../core/forward/forward.ts";
import type { LegTries } from "../../../core/forward/try.ts";
import type { ReplicaConnection } from "../../../core/pool/connections.ts";
import type { Run } from "../../../core/run.ts";
import { PrefillReader } from "./prefill-reader.ts";

export interface PrefillParts {
  readonly leg: Leg;
  readonly draft: Draft;
  readonly profile: Profile;
  readonly attempts: Attempt[];
  /** Whether the response says where the cache is. */
  readonly keepsResponse: boolean;
  readonly timeoutMs: number;
}

export interface PrefillOwner {
  /** The prompt is processed. */
  prefilled(leg: PrefillLeg): void;
  /** It is not, or nobody knows; in a word for people, and as an error, unless its endpoint has responded. */
  prefillFailed(cause: string, error?: RouterError): void;
  /** No connection needs the request's body any more for it. */
  prefillDelivered(): void;
}

/** One leg of a request: its prompt, processed by the first of the endpoints that can. */
export class PrefillLeg implements ForwardOwner, LegTries {
  readonly firstSpan = FIRST_PROMPT_TRY;
  readonly profile: Profile;
  readonly attempts: Attempt[];
  readonly #run: Run;
  readonly #parts: PrefillParts;
  readonly #owner: PrefillOwner;
  readonly #forward: Forward;
  #endpoint: Endpoint;
  #reader: PrefillReader | undefined;
  #cancelLimit: (() => void) | undefined;
  #isDelivered = false;
  #isOver = false;

  constructor(run: Run, parts: PrefillParts, owner: PrefillOwner) {
    const { leg, draft, profile, attempts } = parts;
    this.#run = run;
    this.#parts = parts;
    this.#owner = owner;
    this.profile = profile;
    this.attempts = attempts;
    this.#endpoint = leg.order[0]!;
    this.#forward = new Forward(run, run.ticket.request!, leg, draft, this, this);
  }

  /** Store it first: it may end at once. */
  begin(nowMs: number): void {
    this.#cancelLimit = afterAwake(this.#run.parts.services.clock, this.#parts.timeoutMs, () => {
      this.#forward.close();
      this.#failed("timeout");
    });
    this.#forward.begin(nowMs);
  }

  /** Where it was tried last. */
  get endpoint(): Endpoint {
    return this.#endpoint;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether no connection needs the request's body for it. */
  get isBodyFree(): boolean {
    return this.#isOver ? this.#forward.isBodyFree : this.#isDelivered;
  }

  /** The response's body, once it is over. */
  get response(): Uint8Array {
    return this.#reader!.whole;
  }

  /** Of the prompt's tokens, those that were cached, as reported; NaN if they were not. */
  get cachedTokens(): number {
    return this.#reader?.usage?.cachedTokens ?? Number.NaN;
  }

  close(): void {
    this.#isOver = true;
    this.#cancelLimit?.();
    this.#forward.close();
  }

  // Called by its tries.

  readerFor(endpoint: Endpoint, connection: ReplicaConnection): PrefillReader {
    const { ticket, parts } = this.#run;
    this.#endpoint = endpoint;
    this.#reader = new PrefillReader(ticket.request!, connection, parts.services.clock, this.#parts.keepsResponse);
    return this.#reader;
  }

  bodyDelivered(): void {
    this.#isDelivered = true;
    this.#owner.prefillDelivered();
  }

  completed(): void {
    const { status = 0 } = this.#reader ?? {};
    if (status >= 300) return this.#failed(`status ${status}`);
    if (this.#end()) this.#owner.prefilled(this);
  }

  failed(error: RouterError): void {
    this.#failed(error.code, error);
  }

  unreached(error: RouterError): void {
    this.#failed(error.code, error);
  }

  missedTarget(): void {
    this.#failed("status 404");
  }

  #failed(cause: string, error?: RouterError): void {
    if (this.#end()) this.#owner.prefillFailed(cause, error);
  }

  /** Returns false if it was over before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelLimit?.();
    return true;
  }
}

import type { Waiting } from "../../../core/contract/admission.ts";
import type { HeaderView } from "../../../core/contract/request.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { WaitEnd, WaitRecord } from "../../../core/contract/wait-record.ts";

/** What a waiter leaves. */
export interface Line {
  left(waiter: Waiter): void;
}

/** What is known of a request that has to wait. */
interface WaiterFacts extends Waiting {
  readonly position: number;
  readonly reason: string;
}

/** One request in line; also the record of its wait, which outlives it. */
export class Waiter implements Waiting, WaitingPlace {
  readonly id: string;
  readonly model: string;
  readonly tenant: string;
  readonly priority: number;
  readonly tokens: number;
  readonly bytes: number;
  readonly headers: HeaderView;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly record: { -readonly [Key in keyof WaitRecord]: WaitRecord[Key] };
  readonly owner: WaitOwner;
  readonly #line: Line;

  constructor(facts: WaiterFacts, owner: WaitOwner, line: Line) {
    const { id, model, tenant, priority, tokens, bytes, headers, sinceMs, untilMs, position, reason } = facts;
    this.id = id;
    this.model = model;
    this.tenant = tenant;
    this.priority = priority;
    this.tokens = tokens;
    this.bytes = bytes;
    this.headers = headers;
    this.sinceMs = sinceMs;
    this.untilMs = untilMs;
    this.record = { tenant, priority, tokens, position, reason, end: "", waitedMs: Number.NaN };
    this.owner = owner;
    this.#line = line;
  }

  over(end: WaitEnd, nowMs: number): void {
    this.record.end = end;
    this.record.waitedMs = nowMs - this.sinceMs;
  }

  leave(): void {
    if (this.record.end === "") this.#line.left(this);
  }
}

import type { Demand, Room, Waiting } from "../../core/contract/admission.ts";

export const FAIRNESS = ["tokens", "requests", "none"] as const;
export const ORDERS = ["arrival", "deadline"] as const;
export type Fairness = (typeof FAIRNESS)[number];
export type Order = (typeof ORDERS)[number];

/** Flows that left with a debt, and for which it is remembered. */
const MOST_DEBTS = 1_024;
const DEADLINE_HEADERS = ["x-llm-d-slo-ttft-ms", "x-slo-ttft-ms"];
const MILLISECONDS = /^\d{1,15}(\.\d{1,15})?$/;

/** Requests of one tenant for one model, in their order. */
class Flow {
  readonly key: string;
  readonly line: { readonly request: Waiting; readonly dueMs: number }[] = [];
  credit: number;

  constructor(key: string, credit: number) {
    this.key = key;
    this.credit = credit;
  }

  get head(): Waiting {
    return this.line[0]!.request;
  }

  /** Behind those that are due no later. */
  join(request: Waiting, dueMs: number): void {
    let at = this.line.length;
    while (at > 0 && this.line[at - 1]!.dueMs > dueMs) at -= 1;
    this.line.splice(at, 0, { request, dueMs });
  }

  /** Returns whether it was there. */
  leave(request: Waiting): boolean {
    const at = this.line.findIndex((each) => each.request === request);
    if (at >= 0) this.line.splice(at, 1);
    return at >= 0;
  }
}

/**
 * Requests of one priority. Flows take turns by deficit round robin (Shreedhar, Varghese 1995) with a quantum of one: each gets the same
 * in a round, and spends it on requests that there is room for; the rounds in which nobody can pay are one step.
 */
export class Band {
  readonly priority: number;
  size = 0;
  readonly #fairness: Fairness;
  readonly #order: Order;
  readonly #byKey = new Map<string, Flow>();
  /** The flows in the order of their turns, and whose turn it was last; -1 before the first. */
  readonly #flows: Flow[] = [];
  #turn = -1;
  /** Credit that each flow was given since the beginning. */
  #given = 0;
  /** By flow: its debt, as if it had been there from the beginning. */
  readonly #debts = new Map<string, number>();

  constructor(priority: number, fairness: Fairness, order: Order) {
    this.priority = priority;
    this.#fairness = fairness;
    this.#order = order;
  }

  join(request: Waiting): void {
    this.#flowOf(request).join(request, this.#order === "arrival" ? request.sinceMs : deadlineOf(request));
    this.size += 1;
  }

  leave(request: Waiting): void {
    const flow = this.#byKey.get(this.#keyOf(request));
    if (flow?.leave(request) !== true) return;
    this.size -= 1;
    if (flow.line.length === 0) this.#forget(flow);
  }

  take({ isFor }: Room): Waiting | undefined {
    const flow = this.#next(isFor);
    if (flow === undefined) return undefined;
    const { head } = flow;
    flow.credit -= this.#costOf(head);
    this.leave(head);
    return head;
  }

  hasWaitedSince(sinceMs: number, { isFor }: Room): boolean {
    return this.#flows.some(({ head }) => head.sinceMs <= sinceMs && isFor(head));
  }

  /** The last of the longest flow; the newcomer, unless it matters more or its own flow is shorter by two. */
  least(newcomer: Waiting): Waiting {
    const longest = this.#flows.reduce((most, flow) => (flow.line.length > most.line.length ? flow : most));
    const own = this.#byKey.get(this.#keyOf(newcomer))?.line.length ?? 0;
    const isFair = newcomer.priority === this.priority && longest.line.length <= own + 1;
    return isFair ? newcomer : longest.line.at(-1)!.request;
  }

  spent(request: Demand, tokens: number): void {
    if (this.#fairness !== "tokens") return;
    const key = this.#keyOf(request);
    const more = tokens - request.tokens;
    const flow = this.#byKey.get(key);
    if (flow !== undefined) flow.credit -= more;
    else this.#owes(key, (this.#debts.get(key) ?? -this.#given) - more);
  }

  /**
   * The flow whose turn it is, of those that there is room for: the present one while it can pay, else the next that can after the
   * fewest rounds.
   */
  #next(isFor: Room["isFor"]): Flow | undefined {
    const flows = this.#flows;
    const ready: number[] = [];
    let fewest = Number.POSITIVE_INFINITY;
    let first = -1;
    // The present one comes last again, if it can't pay now.
    for (let step = 0; step <= flows.length && flows.length > 0; step++) {
      const at = (this.#turn + step + flows.length) % flows.length;
      const flow = flows[at]!;
      if (!isFor(flow.head)) continue;
      const rounds = Math.max(0, Math.ceil(this.#costOf(flow.head) - flow.credit));
      if (step === 0 && rounds > 0) continue;
      ready.push(at);
      if (rounds >= fewest) continue;
      fewest = rounds;
      first = at;
      if (rounds === 0) break;
    }
    if (first < 0) return undefined;
    if (fewest > 0) this.#give(ready, fewest);
    this.#turn = first;
    return flows[first];
  }

  #give(flows: readonly number[], credit: number): void {
    this.#given += credit;
    for (const at of flows) this.#flows[at]!.credit += credit;
  }

  #costOf({ tokens }: Demand): number {
    return this.#fairness === "tokens" ? tokens : 1;
  }

  #keyOf({ tenant, model }: Demand): string {
    return this.#fairness === "none" ? "" : `${tenant}\n${model}`;
  }

  #flowOf(request: Waiting): Flow {
    const key = this.#keyOf(request);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const debt = (this.#debts.get(key) ?? 0) + this.#given;
    this.#debts.delete(key);
    const flow = new Flow(key, Math.min(0, debt));
    this.#byKey.set(key, flow);
    this.#flows.push(flow);
    return flow;
  }

  #forget(flow: Flow): void {
    this.#byKey.delete(flow.key);
    const at = this.#flows.indexOf(flow);
    this.#flows.splice(at, 1);
    if (at < this.#turn) this.#turn -= 1;
    if (flow.credit < 0) this.#owes(flow.key, flow.credit - this.#given);
  }

  #owes(key: string, debt: number): void {
    this.#debts.set(key, debt);
    if (this.#debts.size > MOST_DEBTS) for (const oldest of this.#debts.keys()) return void this.#debts.delete(oldest);
  }
}

/** When its first token should be there; of those that do not say, or say no number, after all others. */
function deadlineOf({ headers, sinceMs }: Waiting): number {
  for (const name of DEADLINE_HEADERS) {
    const text = headers.get(name) ?? "";
    // Number() takes an empty text for 0.
    if (MILLISECONDS.test(text)) return sinceMs + Number(text);
  }
  return Number.POSITIVE_INFINITY;
}

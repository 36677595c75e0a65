import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { KeptObject } from "../../../core/contract/request.ts";
import type { Run } from "../../../core/run.ts";
import { bearerFor } from "../../../core/wire/bearer.ts";
import { replicaTlsFor } from "../../../core/wire/replica-tls.ts";
import { CREDENTIALS } from "../../../core/wire/request-headers.ts";
import { type Answered, type Question, whoHas } from "./asking.ts";
import { keyOf } from "./holders.ts";
import { tooManyQuestions } from "./refusals.ts";

/** Each may have connections to sixteen replicas. */
const MOST_AT_ONCE = 32;
/** So long nobody is asked again for what nobody has. */
const MISSED_MS = 10_000;
const MOST_MISSED = 4_096;
/** What may stand in a path as it is. */
const PLAIN_ID = /^\w[\w.:-]{0,255}$/;

/** Questions to all replicas: who has this? The same one is asked once, however many clients wait for its answer. */
export class Questions {
  asked = 0;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #underWay = new Map<string, Promise<Answered>>();
  /** Since when it is known that nobody has it. */
  readonly #missed = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether asking can tell anything: the id is one, and nobody has just said that there is no such thing. */
  isWorthwhile(tenant: string, named: KeptObject): boolean {
    if (!PLAIN_ID.test(named.id)) return false;
    const sinceMs = this.#missed.get(`${tenant}\n${keyOf(named)}`);
    return sinceMs === undefined || this.#clock.now() - sinceMs >= MISSED_MS;
  }

  /** Throws RouterError where too many are asked already. */
  ask(run: Run, tenant: string, named: KeptObject, endpoints: readonly Endpoint[], timeoutMs: number): Promise<Answered> {
    const key = `${tenant}\n${keyOf(named)}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    if (this.#underWay.size >= MOST_AT_ONCE) throw tooManyQuestions();
    this.asked += 1;
    const answered = whoHas(endpoints, questionOf(run, named, timeoutMs, this.#end.signal)).then((answer) => {
      this.#underWay.delete(key);
      if (answer.holder === undefined && answer.unsure + answer.unwilling === 0) this.#miss(key);
      return answer;
    });
    this.#underWay.set(key, answered);
    return answered;
  }

  /** The router has ended. */
  close(): void {
    this.#end.abort();
  }

  #miss(key: string): void {
    this.#missed.delete(key);
    this.#missed.set(key, this.#clock.now());
    if (this.#missed.size <= MOST_MISSED) return;
    for (const oldest of this.#missed.keys()) return void this.#missed.delete(oldest);
  }
}

/** Replicas see the router's key where it has one for them, else the client's, as with its request. */
function questionOf({ head, config }: Run, { kind, id }: KeptObject, timeoutMs: number, signal: AbortSignal): Question {
  const { credentials, replicaTls } = config.settings;
  const shown = CREDENTIALS.flatMap((name) => {
    const value = head.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const ofClient = credentials?.isForwarded === false ? {} : Object.fromEntries(shown);
  return {
    path: `/v1/${kind}/${id}`,
    timeoutMs,
    signal,
    headers({ name }) {
      const authorization = bearerFor(name, credentials);
      return authorization === undefined ? ofClient : { authorization };
    },
    tls: ({ name }) => replicaTlsFor(name, replicaTls),
  };
}

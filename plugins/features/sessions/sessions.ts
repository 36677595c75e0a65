import type { Clock } from "../../../core/contract/clock.ts";
import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { type AskedPrompt, PromptEnds } from "./prompt-ends.ts";
import { isStored, responseIdTap } from "./response-id.ts";
import { Session, type SessionKey } from "./session.ts";
import type { SessionState } from "./session-fact.ts";
import { CHAINED_KEY, type SessionIds, sessionKey } from "./session-ids.ts";
import { SessionTable } from "./session-table.ts";
import type { SessionSettings } from "./sessions-config.ts";
import { Turn } from "./turn.ts";

/** It is looked so often in the time that a session may be idle. */
const SWEEPS = 16;
const LEAST_SWEEP_MS = 1_000;
/** The API whose prompts have no next turn. */
const EMBEDDINGS = "embeddings";
/** The source of a session without an id: it is known by its prompt. */
const PROMPT = "prompt";
/** Seconds, in steps that Prometheus can add up. */
const PAUSES = new Bounds([1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600]);

interface AskedRun extends RequestRun {
  readonly ticket: Ticket;
}

/** The sessions that are known. It outlives configs. */
export class Sessions {
  readonly counts = { begun: 0, idle: 0, pushedOut: 0, moves: 0 };
  /** Turns by where the session's id was found. */
  readonly turns = new Map<string, number>();
  readonly pauses = new Histogram(PAUSES);
  readonly #clock: Clock;
  readonly #table: SessionTable;
  #prompts = new PromptEnds();
  #promptSecret: readonly number[] | undefined;
  /** Sessions that are known by their prompts have no ids of clients; this tells those of different routers apart. */
  readonly #id = crypto.randomUUID().slice(0, 8);
  /** Sessions by the ids of their last responses. */
  readonly #byResponse = new Map<string, Session>();
  /** Is told of each session that is forgotten. */
  lost: (session: Session) => void = () => {};
  /** Is told when something of a session has changed here. */
  changed: (session: Session) => void = () => {};
  #settings: SessionSettings | undefined;
  #stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#table = new SessionTable((session) => this.#forgotten(session));
  }

  get settings(): SessionSettings | undefined {
    return this.#settings;
  }

  get size(): number {
    return this.#table.size;
  }

  all(): IterableIterator<Session> {
    return this.#table.all();
  }

  /** `promptSecret`: what prompts are hashed with where other routers hash alike; undefined for one of its own. */
  use(settings: SessionSettings | undefined, promptSecret?: readonly number[]): void {
    this.#settings = settings;
    if (settings === undefined) return this.close();
    this.#hashWith(promptSecret);
    this.counts.pushedOut += this.#table.shrink(settings.max);
    if (!settings.byPrompt) for (const session of this.all()) this.#prompts.forget(session);
  }

  /** A request has come. Undefined: it is no turn of a session. */
  arrived(run: AskedRun, ids: SessionIds): Session | undefined {
    const { ticket, parsed } = run;
    const settings = this.#settings;
    if (settings === undefined || parsed!.promptSpans.length === 0 || ticket.api === EMBEDDINGS) return undefined;
    const named = ids.of(run);
    if (named !== undefined) return this.#turn(ticket, this.#named(named, settings));
    if (!settings.byPrompt) return undefined;
    const prompt = this.#prompts.read(run.body!.bytes, parsed!.promptSpans, ticket.api, parsed!.model, tenantOf(ticket));
    return prompt === undefined ? undefined : this.#byPrompt(run, prompt, settings);
  }

  /** The response of a request that is a turn comes. */
  tap(run: RequestRun, response: TappedResponse): Tap | undefined {
    const session = isStored(run) ? Turn.sessionOf(run.ticket) : undefined;
    if (session === undefined) return undefined;
    return responseIdTap(response, (id) => this.#responded(session, sessionKey(run, id, CHAINED_KEY).key));
  }

  settled(outcome: Outcome): void {
    const session = Turn.sessionOf(outcome);
    if (session === undefined) return;
    session.underWay -= 1;
    session.endedAtMs = this.#clock.now();
    this.#table.touch(session);
    this.changed(session);
    const { status, ending, attempts, usage, request, outputTokens, finishReason } = outcome;
    const endpoint = attempts.at(-1)?.endpoint;
    // A client that leaves after the first token has had its prompt computed.
    if (endpoint === undefined || status < 200 || status >= 300 || ending === "broken") return;
    if (session.endpoint !== "" && session.endpoint !== endpoint) this.counts.moves += 1;
    session.endpoint = endpoint;
    session.promptTokens = usage?.promptTokens || (request?.promptTokens ?? Number.NaN);
    session.outputTokens = outputTokens;
    session.cachedTokens = usage?.cachedTokens ?? Number.NaN;
    session.finishReason = finishReason;
  }

  /** Another router says this of a session; `endpoint`: its replica's name here, "" for none. Undefined: nothing is kept of it. */
  heard(state: SessionState, endpoint: string, router: string): Session | undefined {
    if (this.#settings === undefined) return undefined;
    const session = this.#table.get(state.key) ?? this.#add(state, this.#settings);
    const nowMs = this.#clock.now();
    const [cameAtMs, endedAtMs] = [nowMs - state.cameAgoMs, nowMs - state.endedAgoMs];
    session.turns = Math.max(session.turns, state.turns);
    session.elsewhere.delete(router);
    if (state.underWay > 0) session.elsewhere.set(router, state.underWay);
    this.#table.touch(session);
    if (!(cameAtMs <= session.cameAtMs)) {
      session.cameAtMs = cameAtMs;
      if (this.#settings.byPrompt && state.promptEnd !== undefined) this.#prompts.put({ ...state.promptEnd, session });
    }
    if (endedAtMs <= session.endedAtMs || Number.isNaN(endedAtMs)) return session;
    session.endedAtMs = endedAtMs;
    session.endpoint = endpoint;
    session.promptTokens = state.promptTokens;
    session.outputTokens = state.outputTokens;
    session.cachedTokens = state.cachedTokens;
    session.finishReason = state.finishReason;
    if (state.responseKey !== "") this.#namedBy(session, state.responseKey);
    return session;
  }

  close(): void {
    this.#table.shrink(0);
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }

  #named(key: SessionKey, settings: SessionSettings): Session {
    const known = key.source === CHAINED_KEY ? this.#byResponse.get(key.key) : undefined;
    return known ?? this.#table.get(key.key) ?? this.#begin(key, settings);
  }

  /** The id of the request with which it began stands for a session that has none. */
  #byPrompt(run: AskedRun, prompt: AskedPrompt, settings: SessionSettings): Session {
    const { ticket } = run;
    const known = this.#prompts.continued(prompt);
    const session = known ?? this.#begin(this.#promptKey(run), settings);
    this.#turn(ticket, session);
    this.#prompts.moved(session, prompt);
    return session;
  }

  /** Clients may send the same request id twice. */
  #promptKey(run: AskedRun): SessionKey {
    const key = sessionKey(run, run.ticket.id, PROMPT);
    return { ...key, key: `${PROMPT} ${this.#id} ${this.counts.begun} ${key.key}` };
  }

  #begin(key: SessionKey, settings: SessionSettings): Session {
    this.counts.begun += 1;
    return this.#add(key, settings);
  }

  #add(key: SessionKey, { max, idleMs }: SessionSettings): Session {
    const session = new Session(key);
    this.counts.pushedOut += this.#table.shrink(max - 1);
    this.#table.add(session);
    this.#sweepLater(idleMs);
    return session;
  }

  #turn(ticket: Ticket, session: Session): Session {
    const nowMs = this.#clock.now();
    const pausedMs = session.isBusy ? Number.NaN : nowMs - session.endedAtMs;
    session.turns += 1;
    session.underWay += 1;
    session.cameAtMs = nowMs;
    this.#table.touch(session);
    ticket.session = new Turn(session, pausedMs);
    const { source } = session;
    this.turns.set(source, (this.turns.get(source) ?? 0) + 1);
    if (pausedMs >= 0) this.pauses.add(pausedMs / 1000);
    this.changed(session);
    return session;
  }

  #responded(session: Session, responseKey: string): void {
    // It may have been forgotten while the response was under way.
    if (this.#table.get(session.key) !== session) return;
    this.#namedBy(session, responseKey);
    this.changed(session);
  }

  #namedBy(session: Session, responseKey: string): void {
    this.#byResponse.delete(session.responseKey);
    session.responseKey = responseKey;
    this.#byResponse.set(responseKey, session);
  }

  #forgotten(session: Session): void {
    this.lost(session);
    this.#prompts.forget(session);
    if (this.#byResponse.get(session.responseKey) === session) this.#byResponse.delete(session.responseKey);
  }

  #hashWith(secret: readonly number[] | undefined): void {
    if (String(secret) === String(this.#promptSecret)) return;
    for (const session of this.all()) this.#prompts.forget(session);
    this.#promptSecret = secret;
    this.#prompts = new PromptEnds(secret);
  }

  #sweepLater(idleMs: number): void {
    this.#stopSweeping ??= this.#clock.after(Math.max(LEAST_SWEEP_MS, idleMs / SWEEPS), () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweeping = undefined;
    const idleMs = this.#settings?.idleMs ?? 0;
    this.counts.idle += this.#table.sweep(idleMs, this.#clock.now());
    if (this.#table.size > 0) this.#sweepLater(idleMs);
  }
}

function tenantOf({ principal }: Ticket): string {
  return principal?.tenant ?? "";
}

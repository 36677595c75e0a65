import type { Decision } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { MirrorEnding, MirrorRecord, MirrorSkip } from "../../../core/contract/mirror.ts";
import { NO_PREFIX } from "../../../core/contract/prefix-match.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";
import type { Pool } from "../../../core/pool/pool.ts";
import { saidStatusOf } from "../../../core/report/blame.ts";
import { makeDraft, requestHead } from "../../../core/request/draft.ts";
import type { Run } from "../../../core/run.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { withoutTraces } from "../../../core/wire/trace-lines.ts";
import type { MirrorSettings } from "./mirror-config.ts";
import { MirrorCopy, type OpenRecord } from "./mirror-copy.ts";
import { MirrorTally } from "./mirror-tally.ts";

/** Decides for a copy, as for a request. */
type Choose = (copy: InferenceRequest) => Decision;

/** Told to replicas, so that their logs and metrics can tell copies from requests of clients. */
const MIRROR_LINE = "X-Signalbox-Mirror: 1\r\n";

/** One mirror that the request was drawn for, and what becomes of its copy. */
interface Drawn {
  readonly tally: MirrorTally;
  readonly record: OpenRecord;
  /** Of this copy among the request's, from 1. */
  readonly number: number;
}

/** Sends copies of requests to the mirrors of the rules that drew their targets. It never throws and never waits. */
export class Mirroring {
  #tallies: readonly MirrorTally[] = [];
  #copies = new Set<MirrorCopy>();
  /** The copies of each request that is under way; those that have ended are still compared with it. */
  readonly #ofRequest = new Map<Ticket, readonly MirrorCopy[]>();
  #isStopping = false;

  /** What each mirror of the config has done. */
  get counts(): readonly MirrorTally[] {
    return this.#tallies;
  }

  /** Another config runs. Mirrors that stay go on counting; copies under way are dropped, since a reload waits for nothing. */
  useMirrors(mirrors: readonly MirrorSettings[]): void {
    this.#drop("stopped");
    this.#tallies = mirrors.map(({ rule, target, ...bounds }) => {
      const known = this.#tallies.find((tally) => tally.rule === rule && tally.target === target);
      if (known === undefined) return new MirrorTally(rule, target, bounds);
      known.bounds = bounds;
      return known;
    });
  }

  /** Drops the copies on endpoints that are not available any more: a drain waits for none. */
  follow(endpoints: readonly Endpoint[]): void {
    if (this.#copies.size === 0) return;
    const available = new Set(endpoints.filter(({ isAvailable }) => isAvailable).map(generationKey));
    this.#drop("stopped", ({ endpoint }) => !available.has(generationKey(endpoint)));
  }

  /** Drops the copies for which bodies stay in memory. */
  freeBodies(): void {
    if (this.#copies.size > 0) this.#drop("memory", ({ isBodyHeld }) => isBodyHeld);
  }

  /** Drops all copies; there will be no more. */
  stop(): void {
    this.#isStopping = true;
    this.#drop("stopped");
  }

  sent(run: Run, request: InferenceRequest, choose: Choose): void {
    if (request.rule === "" || this.#isStopping) return;
    const { random } = run.parts.services;
    const drawn = this.#tallies.filter(
      ({ rule, percent }) => rule === request.rule && (percent === 100 || random() * 100 < percent),
    );
    if (drawn.length === 0) return;
    const records: MirrorRecord[] = [];
    const copies: MirrorCopy[] = [];
    for (const [index, tally] of drawn.entries()) {
      const record = newRecord(tally);
      const sent = this.#copy(run, request, choose, { tally, record, number: index + 1 });
      if (typeof sent === "string") {
        record.skipped = sent;
        tally.skip(sent);
      } else copies.push(sent);
      records.push(record);
    }
    run.ticket.mirrors = records;
    if (copies.length > 0) this.#ofRequest.set(run.ticket, copies);
  }

  /** A request has ended. Where its client gave it up, replicas would have stopped working on it. */
  settled(ticket: Ticket): void {
    const copies = ticket.mirrors && this.#ofRequest.get(ticket);
    if (copies === undefined) return;
    this.#ofRequest.delete(ticket);
    const { times, ending } = ticket;
    // The first byte of an error is no token.
    const firstByteMs = saidStatusOf(ticket) < 400 ? times.firstByteAtMs - times.dispatchedAtMs : Number.NaN;
    for (const copy of copies) {
      if (ending === "client-left") copy.stop("client-left");
      copy.originalEnded(firstByteMs);
    }
  }

  /** Returns why none was sent. */
  #copy(run: Run, original: InferenceRequest, choose: Choose, drawn: Drawn): MirrorCopy | MirrorSkip {
    try {
      return obstacle(run, original, drawn.tally) ?? this.#send(run, original, choose, drawn);
    } catch (thrown) {
      reportFault(run, original, thrown);
      return "fault";
    }
  }

  #send(run: Run, original: InferenceRequest, choose: Choose, drawn: Drawn): MirrorCopy | MirrorSkip {
    const { ticket, config, pool, parts } = run;
    const { openingEvents = 0, responses } = run.parser!.plugin;
    const { tally, record, number } = drawn;
    const request = copyOf(original, pool, tally.target, number);
    const endpoint = endpointFor(choose(request));
    if (endpoint === undefined) return "no-endpoint";
    const draft = makeDraft(request, run, undefined);
    const lines = withoutTraces(draft.lines) + MIRROR_LINE;
    const head = requestHead({ ...draft, lines }, endpoint, config.settings.credentials);
    const connection = pool.connections.of(endpoint).takeSpare();
    if (connection === undefined) return "connections";
    record.endpoint = endpoint.name;
    const made = {
      request,
      endpoint,
      connection,
      openingEvents,
      shape: responses?.[ticket.path],
      body: run.buffer!.hold(),
      tally,
      record,
      clock: parts.services.clock,
      ended: (ended: MirrorCopy) => void this.#copies.delete(ended),
    };
    const copy = new MirrorCopy(made, pool);
    this.#copies.add(copy);
    copy.begin(draft, head);
    return copy;
  }

  #drop(ending: MirrorEnding, isMeant: (copy: MirrorCopy) => boolean = () => true): void {
    for (const copy of [...this.#copies]) if (isMeant(copy)) copy.stop(ending);
  }
}

/** What speaks against a copy before anything is decided for it. */
function obstacle(
  { pool, parts }: Run,
  request: InferenceRequest,
  { target, inFlight, maxInFlight }: MirrorTally,
): MirrorSkip | undefined {
  if (request.target === target) return "same-target";
  if (!request.isRepeatable) return "not-repeatable";
  if (inFlight >= maxInFlight) return "in-flight";
  if (parts.gate.memory.isTight) return "memory";
  return pool.facts.served.has(target) ? undefined : "no-endpoint";
}

/** The request as the mirror's replica gets it. Its id is another one: engines take two requests of one id for the same. */
function copyOf(request: InferenceRequest, pool: Pool, target: string, number: number): InferenceRequest {
  const { api, cacheSalt, body, promptSpans, promptTokens, promptParts } = request;
  const key = { api, target, cacheSalt };
  return {
    ...request,
    id: `${request.id}-mirror-${number}`,
    target,
    // Copies load nothing into replicas that serve clients.
    onDemand: "never",
    prefix: pool.prefixIndex?.match(key, body, promptSpans, promptTokens, promptParts) ?? NO_PREFIX,
  };
}

/** The best of the order, except one on trial: a copy must not decide a trial, and may take long. */
function endpointFor({ refusal, legs }: Decision): Endpoint | undefined {
  if (refusal !== undefined) return undefined;
  return legs[0]?.order.find(({ isAvailable, isOnTrial }) => isAvailable && !isOnTrial);
}

function newRecord({ rule, target }: MirrorTally): OpenRecord {
  return { rule, target, skipped: "", endpoint: "", status: 0, firstByteMs: Number.NaN, responseBytes: 0, ending: "" };
}

function generationKey({ slot, generation }: Endpoint): number {
  return generation * 4096 + slot;
}

function reportFault({ parts }: Run, request: InferenceRequest, thrown: unknown): void {
  if (thrown instanceof RouterError && thrown.fault !== undefined)
    return parts.plugins.faults.report(thrown.fault.plugin, thrown.fault.text);
  parts.services.log.error("A copy for a mirror failed inside the router", { id: request.id, cause: thrownText(thrown) });
}

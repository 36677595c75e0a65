import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { KeptObject, ParsedBody } from "../../../core/contract/request.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import type { Run } from "../../../core/run.ts";
import { FirstIdTap, LONGEST_ID } from "../../../core/stream/first-id-tap.ts";
import type { Answered } from "./asking.ts";
import { DocumentTap } from "./document-tap.ts";
import { type Holder, Holders } from "./holders.ts";
import { answering, canAnswer, HoldingPool } from "./holding-pool.ts";
import { Questions } from "./questions.ts";
import { doubled, notAllAnswered, notOfClient, notServed, replicaGone, replicaLeaves, twoNamed } from "./refusals.ts";
import { SharedHolders } from "./shared-holders.ts";
import type { StoredSettings } from "./stored-config.ts";

/** The type of the parser that serves nothing else. */
const STORED_PATHS = "stored-paths";
const SWEEPS = 16;
/** Of a path such as /v1/files/{id}, with the empty one in front. */
const OBJECT_SEGMENTS = 4;
/** Files that a batch has written, by the keys of its document. */
const FILES_OF_BATCH = ["output_file_id", "error_file_id"];

/** Finds the replica that keeps what a request names. It outlives configs. */
export class Stored {
  readonly holders = new Holders();
  readonly questions: Questions;
  readonly shared: SharedHolders;
  /** Requests that named something: by what the router knew of it. */
  readonly counts = { known: 0, found: 0, nobodys: 0, refused: 0, gone: 0 };
  readonly #clock: Clock;
  /** Replicas whose process has ended, by name, until they are ready again: what they kept in memory is lost. */
  readonly #ended = new Set<string>();
  #settings: StoredSettings | undefined;
  #stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.questions = new Questions(clock);
    this.shared = new SharedHolders(this.holders, clock);
  }

  use(settings: StoredSettings): void {
    this.#stopSweeping?.();
    this.#settings = settings.isOn ? settings : undefined;
    const maxBytes = settings.isOn ? settings.maxBytes : 0;
    this.holders.shrink(maxBytes);
    this.shared.use(maxBytes);
    if (settings.isOn) this.#stopSweeping = this.#clock.every(Math.max(1_000, settings.ttlMs / SWEEPS), () => this.#sweep());
  }

  close(): void {
    this.#stopSweeping?.();
    this.questions.close();
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.shared.follow(endpoints);
    if (this.#ended.size === 0) return;
    const unready = new Set(endpoints.filter(({ isAvailable }) => !isAvailable).map(({ name }) => name));
    for (const name of this.#ended) if (!unready.has(name)) this.#ended.delete(name);
  }

  replicaGone({ name }: Endpoint): void {
    this.#ended.add(name);
  }

  /** Sends the request to the replica that keeps what it names. Throws RouterError where that can't be. */
  admit(run: Run, owner: WaitOwner): WaitingPlace | undefined {
    const { names, alsoNames, isLookup = false, makes = "" } = run.parsed!;
    if (this.#settings === undefined && run.ticket.api === STORED_PATHS) throw notServed({ kind: names?.kind ?? makes });
    if (names === undefined || this.#settings === undefined) return undefined;
    // Only the first one is looked for, so the other might be another client's.
    if (alsoNames !== undefined && run.ticket.principal !== undefined) throw twoNamed();
    const holder = this.holders.find(tenantOf(run), names, this.#clock.now());
    if (holder?.isDoubled) throw doubled(names, isLookup);
    if (holder !== undefined) {
      this.counts.known += 1;
      this.#send(run, names, holder);
      return undefined;
    }
    return this.#findOut(run, owner, names, this.#settings);
  }

  /** The response of a request comes that makes something, or ends it. */
  tap(run: Run, { status, headers, isEventStream }: TappedResponse): Tap | undefined {
    const { names, makes, isLookup }: Partial<ParsedBody> = run.parsed ?? {};
    if (this.#settings === undefined || status >= 300 || (makes === undefined && isLookup !== true)) return undefined;
    const tenant = tenantOf(run);
    if (names !== undefined && isDeletion(run)) {
      this.holders.forget(tenant, names);
      this.shared.deleted(tenant, names);
    }
    const endpoint = run.parts.pool.facts.endpoints.find(({ name }) => name === run.ticket.endpoint);
    if (makes === undefined || endpoint === undefined) return undefined;
    if ((headers.get("content-encoding") ?? "identity") !== "identity") return undefined;
    const learn = (kind: string, id: unknown) => this.#learn(tenant, { kind, id }, endpoint, isLookup !== true);
    if (makes === "responses") return new FirstIdTap(isEventStream, (id) => learn(makes, id));
    return new DocumentTap((document) => {
      learn(makes, document["id"]);
      if (makes === "batches")
        for (const key of FILES_OF_BATCH) this.#learn(tenant, { kind: "files", id: document[key] }, endpoint, false);
    });
  }

  #findOut(run: Run, owner: WaitOwner, names: KeptObject, settings: StoredSettings): WaitingPlace | undefined {
    const { principal } = run.ticket;
    const isLookup = run.parsed!.isLookup === true;
    const asks = settings.unknown === "ask" || (settings.unknown === "auto" && principal === undefined);
    // What is known of another client is not looked for.
    if (!asks || this.holders.isKnown(names)) {
      this.counts.refused += 1;
      throw notOfClient(names, isLookup);
    }
    const tenant = tenantOf(run);
    const endpoints = run.pool.facts.endpoints.filter(canAnswer);
    // The only replica says by itself that it has no such thing; so does any replica of what nobody has.
    if (run.pool.facts.endpoints.length < 2 || !this.questions.isWorthwhile(tenant, names)) return undefined;
    const answered = this.questions.ask(run, tenant, names, endpoints, settings.askTimeoutMs);
    return new Asked(answered, owner, (answer) => this.#answered(run, names, answer));
  }

  #answered(run: Run, names: KeptObject, { holder, unsure }: Answered): void {
    if (holder === undefined) {
      this.counts.nobodys += 1;
      if (unsure > 0) throw notAllAnswered(names);
      return;
    }
    // Another client may have made it, or something of that id, meanwhile.
    const tenant = tenantOf(run);
    const nowMs = this.#clock.now();
    const known = this.holders.find(tenant, names, nowMs);
    const isLookup = run.parsed!.isLookup === true;
    if (known === undefined && this.holders.isKnown(names)) throw notOfClient(names, isLookup);
    if (known?.isDoubled) throw doubled(names, isLookup);
    this.counts.found += 1;
    if (known === undefined) this.#learn(tenant, names, holder, false);
    this.#send(run, names, known ?? { endpoint: holder.name, href: holder.url.href, isDoubled: false, usedAtMs: nowMs });
  }

  /** From now on the request knows of the one replica only. */
  #send(run: Run, names: KeptObject, holder: Holder): void {
    const isLookup = run.parsed!.isLookup === true;
    run.pool = new HoldingPool(run.parts.pool, (endpoints) => this.#holder(endpoints, names, holder, isLookup));
    try {
      // A client whose replica is gone is told so before it waits for room.
      this.#holder(run.parts.pool.facts.endpoints, names, holder, isLookup);
    } catch (gone) {
      this.counts.gone += 1;
      throw gone;
    }
  }

  #holder(endpoints: readonly Endpoint[], names: KeptObject, { endpoint, href }: Holder, isLookup: boolean): Endpoint {
    const holder = endpoints.find(({ name, url }) => name === endpoint && url.href === href);
    if (holder === undefined || this.#ended.has(endpoint)) throw replicaGone(names, isLookup);
    if (isLookup) return answering(holder);
    if (holder.phase === "draining" && holder.stillTakes === "nothing") throw replicaLeaves(names);
    return holder;
  }

  #learn(tenant: string, { kind, id }: { kind: string; id: unknown }, endpoint: Endpoint, isNew: boolean): void {
    if (typeof id !== "string" || id === "" || id.length > LONGEST_ID || this.#settings === undefined) return;
    this.holders.learn(tenant, { kind, id }, endpoint, isNew, this.#clock.now());
    this.holders.shrink(this.#settings.maxBytes);
    this.shared.learned(tenant, { kind, id });
  }

  #sweep(): void {
    this.holders.expire(this.#clock.now() - (this.#settings?.ttlMs ?? 0));
  }
}

/** A request that waits for the replicas' answers. */
class Asked implements WaitingPlace {
  #hasLeft = false;

  constructor(answered: Promise<Answered>, owner: WaitOwner, came: (answer: Answered) => void) {
    void answered.then((answer) => {
      if (this.#hasLeft) return;
      this.#hasLeft = true;
      try {
        came(answer);
      } catch (thrown) {
        return owner.failed(thrown);
      }
      owner.admitted();
    });
  }

  leave(): void {
    this.#hasLeft = true;
  }
}

function tenantOf({ ticket }: Run): string {
  return ticket.principal?.tenant ?? "";
}

/** Whether it deletes the object itself, as /v1/files/{id}, and not something in it. */
function isDeletion({ head, ticket }: Run): boolean {
  return head.method === "DELETE" && ticket.path.split("/").length === OBJECT_SEGMENTS;
}

import type { ConfigText } from "../../config/read/files.ts";
import type { Overlay } from "../../config/rewrites/overlay.ts";
import type { ActiveConfig, Profile } from "../active-config.ts";
import type { MemoryBudget } from "../body/memory-budget.ts";
import type { BodyBuffer } from "../body/receive.ts";
import type { Decision } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Dialect } from "../contract/errors.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { MetricFamily } from "../contract/metric-family.ts";
import type { z } from "../contract/options.ts";
import type { Parser } from "../contract/parser.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import type { PluginFaults } from "../plugin-watch/plugin-faults.ts";
import type { BookingPool } from "../pool/booking.ts";
import type { Pool } from "../pool/pool.ts";
import type { DecisionReport } from "../report/report-schema.ts";
import type { Incoming } from "../request/incoming.ts";
import type { Ticket } from "../request/ticket.ts";
import type { Services } from "../services.ts";
import type { Facts } from "../state/facts.ts";
import type { LoadTable } from "../state/load.ts";
import type { WholeEvents } from "../stream/whole-events.ts";
import type { Head } from "../wire/head.ts";
import type { MakeJudge } from "./judge.ts";
import type { Section } from "./section.ts";

/**
 * Something that a router does beside putting requests on replicas. All of it is in one folder; the list of them is list.ts. What is
 * not its own business, a hook leaves out.
 */
export interface Feature {
  readonly section: Section<unknown, unknown>;
  /** Makes it, once in a router's life. */
  readonly start?: (host: FeatureHost) => LiveFeature;
  /** Judges the endpoints by what requests meet there. At most one feature does. */
  readonly judge?: MakeJudge;
  /** The schemas of what `status` says of a rule's target. */
  readonly targetShape?: z.ZodRawShape;
  /** What commands print of the documents that it is in. */
  readonly text?: FeatureText;
}

/** A feature of a running router. It outlives each config. */
export interface LiveFeature {
  /** This config runs from now on. It can't fail. */
  use?(config: ActiveConfig): void;
  /** The pool is this now. */
  follow?(endpoints: readonly Endpoint[]): void;

  // On a request's way. Each is looked up once, when the router starts.

  /** Lets requests in. At most one feature does. */
  readonly access?: Access;
  /** Decides beside the profile. At most one feature does. */
  readonly beside?: Beside;
  readonly copier?: Copier;
  /** Lets requests wait before they are decided. At most one feature does. */
  readonly admitter?: Admitter;
  /** Keeps clients' streams alive. At most one feature does. */
  readonly streams?: StreamKeeper;
  /** A request has ended; observers are told after it. */
  settled?(ticket: Ticket): void;

  // What people see.

  /** What it adds to the status of the router, of a rule, or of a rule's target. */
  status?(rule: string | undefined, target: string | undefined): object;
  /** What holds now of a rule, in sentences, for explanations. */
  notes?(rule: string): readonly string[];
  /** What needs an operator's attention, in sentences. */
  warnings?(view: RouterView): readonly string[];
  metrics?(view: RouterView): readonly MetricFamily[];

  /** The router is about to stop: it serves on, but nothing need be done beside that. */
  stop?(): void;
  close?(): void;
}

/** What features are made with. */
export interface FeatureHost {
  readonly services: Services;
  readonly faults: Pick<PluginFaults, "report">;
  readonly memory: Pick<MemoryBudget, "giveUpSpare">;
  readonly load: LoadTable;
  facts(): Facts;
  /** Calls `run` in a later turn of the event loop. */
  nextTurn(run: () => void): void;
  /** Undefined where nothing can change the config. */
  running(): ChangeableConfig | undefined;
}

/** The config that runs, as far as features change it. */
export interface ChangeableConfig {
  readonly loaded: { readonly texts: readonly ConfigText[] };
  change(
    edit: (overlay: Overlay) => Overlay,
    cause: "guard",
  ): Promise<{ readonly isApplied: boolean; readonly problems: readonly string[] }>;
}

/** Knows who asks. What it throws, or rejects with, is a RouterError. */
export interface Access {
  /** The head has come: says in the ticket who asks. The body waits for a promise. */
  enter(ticket: Ticket, head: Head, config: ActiveConfig): Promise<void> | undefined;
  /** The whole request has come: throws where the principal may not ask for that, or has used too much. */
  route(ticket: Ticket, asked: ParsedBody): void;
  /** What the body asks for, with a salt of the principal's own where the config wants that. */
  salted(ticket: Ticket, asked: ParsedBody, config: ActiveConfig): ParsedBody;
  /** Header lines for the principal, of what it may still use; "" without one. */
  lines(ticket: Ticket, dialect: Dialect): string;
}

export interface Beside {
  /** Decides for the request by `compared.decide` with the profile and these random numbers; what it throws is thrown on. */
  decide(ticket: Ticket, config: ActiveConfig, profile: Profile, random: Random, compared: Compared): Decision;
}

/** One request that is decided with more than one profile. */
export interface Compared {
  readonly request: InferenceRequest;
  readonly load: LoadView;
  decide(profile: Profile, random: Random): Decision;
}

/** Lets requests go on, or wait for room in the pool. */
export interface Admitter {
  readonly isOn: boolean;
  /**
   * Undefined for a request that may go on now; else the owner is told when it goes on or fails. Throws a RouterError for one that
   * can't even wait.
   */
  enter(run: EnteringRun, parsed: ParsedBody, owner: WaitOwner): WaitingPlace | undefined;
}

/** A request that comes, and has no target yet. */
export interface EnteringRun {
  readonly ticket: Pick<Ticket, "id" | "principal" | "requestBytes" | "wait">;
  readonly incoming: Pick<Incoming, "head">;
}

export interface WaitOwner {
  /** It goes on now. */
  admitted(): void;
  failed(thrown: unknown): void;
}

export interface WaitingPlace {
  /** It waits no more. Has no effect when it has gone on or failed. */
  leave(): void;
}

/** Sends copies of requests. It never throws and never waits. */
export interface Copier {
  readonly isOn: boolean;
  /** The request was sent. `choose` decides for a copy, as for a request. */
  sent(run: SentRun, request: InferenceRequest, choose: (copy: InferenceRequest) => Decision): void;
}

/** What copies need of the request that has just been sent. */
export interface SentRun {
  readonly ticket: Ticket;
  readonly incoming: Incoming;
  readonly buffer: Pick<BodyBuffer, "hold">;
  readonly config: Pick<ActiveConfig, "settings">;
  readonly parts: {
    readonly services: Services;
    readonly pool: BookingPool & Pick<Pool, "facts" | "connections">;
    readonly gate: { readonly memory: Pick<MemoryBudget, "isTight"> };
    readonly plugins: { readonly faults: Pick<PluginFaults, "report"> };
  };
}

export interface StreamKeeper {
  /** An event stream begins; undefined if nothing is to be written into it. */
  keep(incoming: StreamOf, config: ActiveConfig, events: WholeEvents, response: ResponseWriter): KeptStream | undefined;
}

export interface StreamOf {
  readonly path: string;
  readonly parser: { readonly plugin: Pick<Parser, "dialect"> };
}

/** Is told what becomes of one event stream. */
export interface KeptStream {
  /** Bytes came from the replica. */
  restart(): void;
  /** The client can't take more bytes now. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** What commands print of a feature; each gets a document that may have the feature's part. */
interface FeatureText {
  /** Lines below the status. */
  router?(status: object): readonly string[];
  /** Lines below the totals of `top`. */
  top?(status: object): readonly string[];
  /** Lines below a rule of the status. */
  rule?(rule: object): readonly string[];
  /** What stands behind a target of the status. */
  mark?(target: object): string;
  /** Lines below a rewrite that is shown alone. */
  target?(target: object): readonly string[];
  /** Rows of an explanation, with their titles. */
  decision?(report: DecisionReport): readonly (readonly [title: string, text: string])[];
}

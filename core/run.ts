import type { ActiveConfig, Named, RouteParser } from "./active-config.ts";
import type { JsonBody } from "./body/json-body.ts";
import type { BodyBuffer } from "./body/receive.ts";
import type { Dialect } from "./contract/errors.ts";
import type { Parser } from "./contract/parser.ts";
import type { ParsedBody } from "./contract/request.ts";
import type { TargetDraw } from "./contract/rewriter.ts";
import type { WaitingPlace } from "./contract/slots/admit.ts";
import type { BodyDecoder } from "./contract/slots/decode.ts";
import type { RequestRun } from "./contract/slots/request-run.ts";
import type { Span } from "./contract/span.ts";
import type { HostConnections } from "./host/door.ts";
import type { ResponseWriter } from "./host/response-writer.ts";
import type { Pool } from "./pool/pool.ts";
import type { RouterParts } from "./router-parts.ts";
import type { Ticket } from "./ticket.ts";
import type { Head } from "./wire/head.ts";

/** A whole request as parse and draw read it, also where there is no client: for a dry run. */
export interface AskedRun {
  readonly ticket: Ticket;
  readonly head: Head;
  readonly query: string;
  /** What reads the body; undefined for a path that no parser serves. */
  readonly parser: Named<Parser> | undefined;
  /** The whole body, once it has come. */
  readonly body: JsonBody | undefined;
  readonly placedAt: number;
  /** The target, where choosing a pool has drawn it already. */
  readonly draw?: TargetDraw | undefined;
}

const NO_SPAN: Span = [-1, -1];

/** One request from its head to its end: what came of it so far, what it uses, and the ticket that its stages fill in. */
export class Run implements RequestRun, AskedRun {
  readonly ticket: Ticket;
  readonly head: Head;
  readonly peer: string;
  /** The config that was active when its head came; where another pool is chosen, this and the parts are that pool's. */
  config: ActiveConfig;
  parts: RouterParts;
  response: ResponseWriter; // A feature that comes with the router may put its own in front of the host's.
  /** In place of the pool's, for a request that can't share one. */
  connections: HostConnections | undefined;
  query = "";
  dialect: Dialect = "openai";
  parser: RouteParser | undefined;
  /** What keeps the body in memory; undefined as long as none is kept. */
  buffer: BodyBuffer | undefined;
  body: JsonBody | undefined;
  /** Which feature has put another body in the place of the client's; "" for the client's. */
  bodyBy = "";
  /** What decodes the body on its way; undefined for a body that goes on as it comes. */
  decoder: BodyDecoder | undefined;
  /** What the body asks for, once it has been parsed. */
  parsed: ParsedBody | undefined;
  /** Where it goes: chosen by what the body asks for, once that has been parsed; until then the router's first pool. */
  pool: Pool;
  draw: TargetDraw | undefined;
  /** Where it waits, or waited. */
  place: WaitingPlace | undefined;
  placedAt = -1;
  /** Features that have let it go on. */
  admissions = 0;

  constructor(ticket: Ticket, head: Head, peer: string, config: ActiveConfig, parts: RouterParts, response: ResponseWriter) {
    this.ticket = ticket;
    this.head = head;
    this.peer = peer;
    this.config = config;
    this.parts = parts;
    this.response = response;
    this.pool = parts.pool;
    this.connections = response.door?.connections;
  }

  /** Replicas get the member with this value, in place of the client's, and of what was written there before. */
  write(by: string, key: string, value: Uint8Array): void {
    const parsed = this.parsed!;
    const member = { key, span: this.body!.span(key) ?? NO_SPAN, value, by };
    this.parsed = { ...parsed, written: [...(parsed.written ?? []), member] };
  }

  /** Replicas get the body in this buffer in place of the one before, which is given back. It is to be parsed next. */
  takeBuffer(by: string, buffer: BodyBuffer): void {
    this.body?.forget();
    this.buffer?.release();
    this.buffer = buffer;
    this.bodyBy = by;
    this.response.gateway?.bodyChanged();
  }
}

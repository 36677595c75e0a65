import type { RouteParser } from "../../../../core/active-config.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { Door, HostConnections } from "../../../../core/host/door.ts";
import type { ResponseWriter } from "../../../../core/host/response-writer.ts";
import type { ReplicaConnection, ReplicaConnections } from "../../../../core/pool/connections.ts";
import { HeadParser } from "../../../../core/wire/head-parser.ts";
import type { ResponseReader } from "../../../../core/wire/response-reader.ts";
import type { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";
import { toldError } from "../told-error.ts";

const MOST_ERROR_BYTES = 16 * 1024;
const NONE: ReplicaConnections = { take: () => undefined, takeSpare: () => undefined };

/** Whose session it is. */
export interface JudgedMessageOwner {
  /** The message may go to the session's replica, as these parts. */
  allowed(parts: readonly Uint8Array[]): void;
  /** The request that it was has ended; `error` is the event for a client whose message is not passed on. */
  judged(error: string | undefined): void;
}

/**
 * A message that names another model than its session has. It is a request that only the session's replica can serve, because that one has
 * all that was said before; what it answers is no part of the request, so that it ends as soon as it is passed on.
 */
export class JudgedMessage implements ResponseWriter {
  hasStarted = false;
  readonly door: Door;
  readonly #owner: JudgedMessageOwner;
  #status = 0;
  #error: Buffer[] = [];
  #errorBytes = 0;
  #isOver = false;

  constructor(replica: UpstreamPool, parser: RouteParser, owner: JudgedMessageOwner) {
    this.#owner = owner;
    this.door = { connections: tiedTo(replica, owner), parserFor: () => parser };
  }

  /** All of it is here. */
  holdBody(): void {}

  start(status: number): void {
    this.hasStarted = true;
    this.#status = status;
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): boolean {
    for (let i = 0; i < spanCount; i++) {
      this.#errorBytes += spans[2 * i + 1]! - spans[2 * i]!;
      if (this.#errorBytes <= MOST_ERROR_BYTES) this.#error.push(Buffer.from(chunk.subarray(spans[2 * i], spans[2 * i + 1])));
    }
    return true;
  }

  flush(): void {}

  end(): void {
    const body = this.#errorBytes <= MOST_ERROR_BYTES ? Buffer.concat(this.#error).toString() : "";
    this.#over(this.#status < 300 ? undefined : toldError(body).event);
  }

  abort(): void {
    this.#over(toldError("").event);
  }

  /** The client has left. */
  detach(): void {
    this.#isOver = true;
  }

  #over(error: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.judged(error);
  }
}

/** Connections to one replica alone. */
function tiedTo(replica: UpstreamPool, owner: JudgedMessageOwner): HostConnections {
  const own: ReplicaConnections = { ...NONE, take: () => new PassedMessage(owner) };
  return {
    of: (endpoint, pool) => (pool.connections.of(endpoint) === replica ? own : NONE),
    refusal: new RouterError(
      "session_elsewhere",
      "The replica that has this session does not serve that model; open another WebSocket for it.",
    ),
  };
}

/** Passes the message on, and says that this is all. */
class PassedMessage implements ReplicaConnection {
  readonly hasSentAll = true;
  readonly #owner: JudgedMessageOwner;
  #isOver = false;

  constructor(owner: JudgedMessageOwner) {
    this.#owner = owner;
  }

  send(_method: string, _head: string, body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#owner.allowed(body);
    queueMicrotask(() => {
      if (this.#isOver) return;
      reader.head(NO_CONTENT, { kind: "none", length: 0 });
      if (!this.#isOver) reader.end(false);
    });
  }

  pause(): void {}

  resume(): void {}

  destroy(): void {
    this.#isOver = true;
  }
}

const NO_CONTENT = noContent();

function noContent() {
  const parser = new HeadParser("response", { headBytes: 1024, headerCount: 4 });
  parser.push(Buffer.from("HTTP/1.1 204 No Content\r\n\r\n"), 0);
  return parser.head;
}

import { printable } from "../../../core/contract/printable.ts";
import type { RequestBody, RequestRun } from "../../../core/contract/slots/request-run.ts";
import type { Span } from "../../../core/contract/span.ts";
import { sha256 } from "../../../core/runtime/sha256.ts";
import type { SessionKey } from "./session.ts";
import type { SessionSettings } from "./sessions-config.ts";

/** It names the response before, so another one in each turn. */
export const CHAINED_KEY = "previous_response_id";

/** A longer id is known by its digest, so that clients can't fill the memory. */
const LONGEST_ID = 256;
const LONGEST_NAME = 128;
/** A longer value is not read: an id is short, also where it stands in an object. */
const MOST_VALUE_BYTES = 4_096;
const UTF8 = new TextDecoder();
const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
/** What older versions of Claude Code send as a user's id. */
const OLD_USER_ID = /_session_([\w-]{8,64})$/;

/** An id that a client sent, and where. */
interface FoundId {
  readonly id: string;
  readonly source: string;
}

interface BodyPath {
  readonly path: string;
  readonly key: string;
  readonly rest: readonly string[];
}

/** Reads the ids that clients send. */
export class SessionIds {
  /** Top-level keys of bodies that it reads. */
  readonly bodyKeys: readonly string[];
  readonly #headers: readonly string[];
  readonly #agentHeaders: readonly string[];
  readonly #paths: readonly BodyPath[];

  constructor({ headers, agentHeaders, bodyKeys }: SessionSettings) {
    this.#headers = headers;
    this.#agentHeaders = agentHeaders;
    this.#paths = bodyKeys.map((path) => {
      const [key = "", ...rest] = path.split(".");
      return { path, key, rest };
    });
    this.bodyKeys = [...new Set(this.#paths.map(({ key }) => key))];
  }

  /** The session that the client names; undefined if it names none. */
  of(run: RequestRun): SessionKey | undefined {
    const found = this.#inHeaders(run) ?? this.#inBody(run);
    if (found === undefined) return undefined;
    const { id, source } = found;
    const agent = source === CHAINED_KEY ? undefined : this.#first(this.#agentHeaders, run)?.id;
    return sessionKey(run, agent === undefined || agent === id ? id : `${id}/${agent}`, source);
  }

  #inHeaders(run: RequestRun): FoundId | undefined {
    return this.#first(this.#headers, run);
  }

  #first(names: readonly string[], { head }: RequestRun): FoundId | undefined {
    for (let at = 0; at < names.length; at++) {
      const id = head.get(names[at]!);
      if (id !== undefined && id !== "") return { id, source: names[at]! };
    }
    return undefined;
  }

  #inBody({ body }: RequestRun): FoundId | undefined {
    if (body === undefined) return undefined;
    for (let at = 0; at < this.#paths.length; at++) {
      const { path, key, rest } = this.#paths[at]!;
      const span = spanOf(body, key);
      if (span === undefined) continue;
      const id = idAt(body.bytes, span[0], span[1], rest);
      if (id !== undefined) return { id, source: path };
    }
    return undefined;
  }
}

/** Sessions of different tenants and models are different, whatever their ids are. */
export function sessionKey({ ticket, parsed }: RequestRun, id: string, source: string): SessionKey {
  const tenant = ticket.principal?.tenant ?? "";
  const { model } = parsed!;
  const short = id.length > LONGEST_ID ? sha256(id) : id;
  const key = `${tenant.length} ${model.length} ${tenant}${model}${short}`;
  return { key, tenant, model, name: printable(short.slice(0, LONGEST_NAME)), source };
}

/** A parser with a reader of its own, for bodies that are no JSON, may know no other keys than its own. */
function spanOf(body: RequestBody, key: string): Span | undefined {
  try {
    return body.span(key);
  } catch {
    return undefined;
  }
}

/** The id in the value that is bytes[start, end); undefined if it has none there. */
function idAt(bytes: Uint8Array, start: number, end: number, rest: readonly string[]): string | undefined {
  if (end - start > MOST_VALUE_BYTES || bytes[start] !== (rest.length === 0 ? QUOTE : OPEN_OBJECT)) return undefined;
  let value: unknown = parsedText(UTF8.decode(bytes.subarray(start, end)));
  for (const key of rest) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof value === "string" && value !== "" ? sessionIn(value) : undefined;
}

/** Claude Code sends its session as a part of the user's id: then that part is the id, which is the one in its header. */
function sessionIn(value: string): string {
  if (value.startsWith("{")) {
    const inner = parsedText(value);
    const id = isObject(inner) ? inner["session_id"] : undefined;
    if (typeof id === "string" && id !== "") return id;
  }
  return OLD_USER_ID.exec(value)?.[1] ?? value;
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

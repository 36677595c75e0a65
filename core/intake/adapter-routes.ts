import type { ActiveConfig } from "../active-config.ts";
import { readJsonBody } from "../body/json-body.ts";
import { RouterError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import type { Principal } from "../contract/principal.ts";
import { respondWithText } from "../errors/error-response.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import type { Head } from "../wire/head.ts";
import { checkContentType } from "./check-head.ts";

type Action = "load" | "unload";

/** What one replica said. */
interface ReplicaAnswer {
  readonly endpoint: string;
  readonly isDone: boolean;
  /** Its HTTP status; null if it sent none. */
  readonly status: number | null;
  readonly message: string;
}

/** Who has replicas load and unload adapters. */
export interface AdapterChanges {
  passOn(action: Action, name: string, document: object, timeoutMs: number): Promise<readonly ReplicaAnswer[]>;
}

/** Who asks. */
interface Asker {
  readonly client: string;
  readonly id: string;
  readonly principal: Principal | undefined;
}

/** Does what a request with this body asks for, and gives the response. Rejects with RouterError. */
export type AdapterCall = (body: Uint8Array, asker: Asker) => Promise<Respond>;

/** Responds with further header lines; returns the status. */
type Respond = (response: ResponseWriter, lines: string) => number;

/** Longest body. A name and a path are short. */
export const ADAPTER_BODY_BYTES = 64 * 1024;
const LONGEST_NAME = 512;
const DEEPEST = 64;
/** A change goes to every replica and may take minutes there, also after its client has left. */
const MOST_AT_ONCE = 8;

/** The engine's own paths; the router's are the same. */
const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ["/v1/load_lora_adapter", "load"],
  ["/v1/unload_lora_adapter", "unload"],
]);

/** Paths at which clients have replicas load and unload adapters. */
export const ADAPTER_PATHS: readonly string[] = [...ACTIONS.keys()];

/** What one router does of what clients ask at these paths. */
export class AdapterRoutes {
  readonly #adapters: AdapterChanges;
  readonly #log: Pick<Log, "info">;
  #underWay = 0;

  constructor(adapters: AdapterChanges, log: Pick<Log, "info">) {
    this.#adapters = adapters;
    this.#log = log;
  }

  /** For a request with this head; undefined for any other path or method. Throws RouterError where clients, or this one, may not. */
  callOf(head: Head, path: string, { adaptersByClients, cors, limits }: ActiveConfig["settings"]): AdapterCall | undefined {
    const action = head.method === "POST" ? ACTIONS.get(path) : undefined;
    if (action === undefined) return undefined;
    if (!adaptersByClients) throw closed(NOT_BY_CLIENTS);
    const origin = head.get("origin");
    // Browsers add it to every POST: a page that reaches a loopback port, under a name of its own, must not change replicas.
    if (origin !== undefined && cors?.origins?.has(origin) !== true) throw closed(NOT_BY_PAGES);
    checkContentType(head);
    return (body, asker) => this.#change(action, body, limits.responseTimeoutMs, asker);
  }

  /** Asks the replicas. Once it has begun it goes on without its client, within its time. */
  async #change(action: Action, body: Uint8Array, timeoutMs: number, { principal, ...asker }: Asker): Promise<Respond> {
    const document = readDocument(body);
    const name = nameIn(document);
    if (principal?.models !== undefined && !principal.models.has(name)) throw notThisOne();
    if (this.#underWay >= MOST_AT_ONCE) throw tooMany();
    this.#underWay += 1;
    try {
      const answers = await this.#adapters.passOn(action, name, document, timeoutMs);
      const said = answers.map((answer) => lineOf(answer)).join("; ");
      this.#log.info(`A client had an adapter ${action}ed`, {
        adapter: name,
        ...asker,
        ...(principal && { key: principal.name }),
        replicas: said,
      });
      return answerTo(action, name, answers);
    } finally {
      this.#underWay -= 1;
    }
  }
}

const NOT_BY_CLIENTS =
  "Clients may not load or unload adapters at this router (spec.pool.adapters.byClients); its operator can: signalbox adapters.";
const NOT_BY_PAGES = "Web pages may not load or unload adapters; name the page's origin in spec.listen.cors.origins.";

const closed = (message: string) => new RouterError("adapters_closed", message);

function notThisOne(): RouterError {
  return new RouterError("model_not_allowed", "This key may not use the model of that name, so it may not load or unload it.");
}

function tooMany(): RouterError {
  return new RouterError("saturated", `${MOST_AT_ONCE} changes of adapters are under way; try again when one has ended.`, {
    retryAfterS: 1,
  });
}

function readDocument(body: Uint8Array): Readonly<Record<string, unknown>> {
  // Refuses all but one JSON object, and what is nested so often that a runtime takes seconds to write it.
  readJsonBody(body, { keys: ["lora_name"] }, DEEPEST);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Readonly<Record<string, unknown>>;
  } catch {
    throw new RouterError("invalid_json", 'The body is not JSON in UTF-8; send an object such as {"lora_name": "NAME"}.');
  }
}

/** Everything else in the document is for the engine to judge. */
function nameIn({ lora_name: name }: Readonly<Record<string, unknown>>): string {
  if (typeof name === "string" && name !== "" && name.length <= LONGEST_NAME) return name;
  throw new RouterError("invalid_value", `Name the adapter: "lora_name" must be a text of 1 to ${LONGEST_NAME} characters.`);
}

/**
 * A text that begins as the engine's own where all did it; else an error document as the engine's, with what each replica said. Its
 * status is the replicas' own where all agree on one that blames the request, so that clients see what the engine thinks; else 502.
 */
function answerTo(action: Action, name: string, answers: readonly ReplicaAnswer[]): Respond {
  if (answers.length === 0) throw nobody();
  const failed = answers.filter(({ isDone }) => !isDone);
  if (failed.length === 0) {
    const lines = [
      `Success: LoRA adapter '${name}' ${action === "load" ? "added" : "removed"} successfully.`,
      ...answers.map(lineOf),
    ];
    return respondWith(200, "text/plain; charset=utf-8", `${lines.join("\n")}\n`);
  }
  const done = answers.length - failed.length;
  const message = `${done} of ${answers.length} replicas did it. ${failed.map(lineOf).join(" ")}`;
  const error = { message, type: "api_error", param: null, code: "adapter_change_failed", replicas: answers };
  return respondWith(done === 0 ? statusOf(failed) : 502, "application/json", JSON.stringify({ error }));
}

function respondWith(status: number, contentType: string, text: string): Respond {
  return (response, lines) => {
    respondWithText(response, status, `content-type: ${contentType}\r\n${lines}`, text);
    return status;
  };
}

function statusOf(failed: readonly ReplicaAnswer[]): number {
  const [first = null, ...others] = new Set(failed.map(({ status }) => status));
  return others.length === 0 && (first === 400 || first === 404) ? first : 502;
}

const lineOf = ({ endpoint, message }: ReplicaAnswer) => `${endpoint}: ${message}`;

function nobody(): RouterError {
  return new RouterError("no_ready_endpoint", "No replica is in service that could do it; try again when one is.", {
    retryAfterS: 1,
  });
}

import { readJsonBody } from "../../../core/body/json-body.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Answer } from "../../../core/contract/slots/answer.ts";
import { type AdapterChange, Adapters } from "../../../core/control/adapters.ts";
import type { AdapterAccess } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";
import { checkContentType } from "../../../core/wire/content-type.ts";
import { type AskedPool, askedPools } from "./asked-pools.ts";

type Action = "load" | "unload";

/** `pool`: absent where there is one only. */
type Change = AdapterChange & { readonly pool?: string };

const LONGEST_NAME = 512;
const DEEPEST = 64;
/** A change goes to every replica and may take minutes there, also after its client has left. */
const MOST_AT_ONCE = 8;

/** What one router does of what clients ask at these paths. */
export class AdapterCalls {
  readonly #own: () => AdapterAccess | undefined;
  readonly #log: Log;
  #underWay = 0;

  /** `own`: what the replicas of the router's own pool are asked with. */
  constructor(own: () => AdapterAccess | undefined, log: Log) {
    this.#own = own;
    this.#log = log;
  }

  /**
   * Asks the replicas. Once it has begun it goes on without its client, within its time. Rejects with RouterError where clients, or this
   * one, may not.
   */
  async answer(action: Action, run: Run): Promise<Answer> {
    const pools = askedPools(run, this.#own());
    checkOrigin(run);
    const { ticket, peer: client, body, config } = run;
    const { id, principal } = ticket;
    const document = readDocument(body!.bytes);
    const name = nameIn(document);
    if (principal?.models !== undefined && !principal.models.has(name)) throw notThisOne();
    if (this.#underWay >= MOST_AT_ONCE) throw tooMany();
    this.#underWay += 1;
    try {
      const { responseTimeoutMs } = config.settings.limits;
      const changes = (await Promise.all(pools.map((pool) => changesIn(pool, action, name, document, responseTimeoutMs)))).flat();
      this.#log.info(`A client had an adapter ${action}ed`, {
        ...{ adapter: name, client, id },
        ...(principal && { key: principal.name }),
        replicas: changes.map((change) => lineOf(change)).join("; "),
      });
      return answerTo(action, name, changes);
    } finally {
      this.#underWay -= 1;
    }
  }
}

async function changesIn(
  { name: pool, access }: AskedPool,
  action: Action,
  name: string,
  document: object,
  timeoutMs: number,
): Promise<readonly Change[]> {
  if (access === undefined) return [];
  const changes = await new Adapters(access).passOn(action, name, document, timeoutMs);
  return pool === undefined ? changes : changes.map((change) => ({ ...change, pool }));
}

/** Throws RouterError. */
function checkOrigin({ head, config }: Run): void {
  const { cors } = config.settings;
  const origin = head.get("origin");
  // Browsers add it to every POST: a page that reaches a loopback port, under a name of its own, must not change replicas.
  if (origin !== undefined && cors?.origins?.has(origin) !== true) throw new RouterError("adapters_closed", NOT_BY_PAGES);
  checkContentType(head);
}

const NOT_BY_PAGES = "Web pages may not load or unload adapters; name the page's origin in spec.listen.cors.origins.";

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
 * A text that begins as the engine's own where all did it, or were as asked and one at least was not; else an error document as the engine's, with what each replica said. Its
 * status is the replicas' own where all agree on one that blames the request, so that clients see what the engine thinks; else 502.
 */
function answerTo(action: Action, name: string, answers: readonly Change[]): Answer {
  if (answers.length === 0) throw nobody();
  const failed = answers.filter(({ isDone }) => !isDone);
  // A replica that was already as asked is no failure where another one changed; where none did, the engines call it one.
  if (failed.length === 0 && answers.every(({ status }) => status !== 200)) return nothingToDo(action, name, answers);
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

/** What vLLM says of a name that is not loaded, or is loaded already. */
const REFUSALS = {
  load: {
    code: 400,
    type: "InvalidUserInput",
    text: "has already been loaded. To load it in place, set 'load_inplace' to true.",
  },
  unload: { code: 404, type: "NotFoundError", text: "cannot be found." },
} as const;

function nothingToDo(action: Action, name: string, replicas: readonly Change[]): Answer {
  const { code, type, text } = REFUSALS[action];
  const error = { message: `The lora adapter '${name}' ${text}`, type, param: null, code, replicas };
  return respondWith(code, "application/json", JSON.stringify({ error }));
}

function respondWith(status: number, contentType: string, body: string): Answer {
  return { status, headers: { "content-type": contentType }, body };
}

function statusOf(failed: readonly Change[]): number {
  const [first = null, ...others] = new Set(failed.map(({ status }) => status));
  return others.length === 0 && (first === 400 || first === 404) ? first : 502;
}

const lineOf = ({ endpoint, pool, message }: Change) => `${endpoint}${pool === undefined ? "" : ` of ${pool}`}: ${message}`;

function nobody(): RouterError {
  return new RouterError("no_ready_endpoint", "No replica is in service that could do it; try again when one is.", {
    retryAfterS: 1,
  });
}

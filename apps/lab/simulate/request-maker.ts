import type { RouteParser } from "../../../core/active-config.ts";
import { JsonBody } from "../../../core/body/json-body.ts";
import { NO_KEYS } from "../../../core/body/noted-keys.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import { NO_PARTS } from "../../../core/contract/prompt-part.ts";
import type { InferenceRequest, ParsedBody } from "../../../core/contract/request.ts";
import { withTarget } from "../../../core/request/parse.ts";
import { Run } from "../../../core/run.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { Ticket } from "../../../core/ticket.ts";
import type { Head } from "../../../core/wire/head.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { BodyWriter } from "./body-writer.ts";
import type { SimulatedTargets } from "./metrics.ts";
import { textTokens } from "./prompt-bytes.ts";
import type { RouterSide } from "./router-side.ts";
import type { Trace, TraceRequest } from "./trace.ts";

const PATH = "/v1/completions";
/** What a router takes text for that it knows nothing else of. */
const BYTES_PER_TOKEN = 4;

/** Its requests are parsed already. */
const PARSER: RouteParser = {
  name: "trace",
  type: "completions",
  keys: [],
  plugin: {
    routes: [],
    dialect: "openai",
    keys: [],
    parse() {
      throw new Error("A simulated request is parsed when it comes");
    },
  },
};

interface RequestSettings {
  /** How far off the router's token counts may be, as a share. */
  readonly tokenError: number;
  readonly targets: readonly SimulatedTargets[];
}

/** Makes of a trace's requests what the router's parse stage makes of a client's: the body has the model and the prompt. */
export class RequestMaker {
  readonly #writer: BodyWriter;
  /** Of each of the targets that requests have in turn. */
  readonly #targetLines: readonly (readonly string[])[];
  readonly #heads: readonly Head[];
  /** By the headers of the trace. */
  readonly #ownHeads = new WeakMap<object, Head>();
  readonly #tokenError: number;
  readonly #random: Random;

  constructor(trace: Trace, { tokenError, targets }: RequestSettings, random: Random) {
    this.#writer = new BodyWriter(trace.requests);
    this.#targetLines = targets.map(targetLines);
    this.#heads = this.#targetLines.map(headWith);
    this.#tokenError = tokenError;
    this.#random = random;
  }

  #parse(traced: TraceRequest, bytes: Uint8Array): ParsedBody {
    const writer = this.#writer;
    const [start, end] = writer.promptSpan(traced, bytes.length);
    const isText = traced.image?.isRecognised !== true;
    return {
      model: traced.model,
      modelSpan: writer.modelSpan(traced),
      isStream: true,
      promptSpans: [[start, end]],
      promptTokens: this.#believed(isText ? (end - start) / BYTES_PER_TOKEN : textTokens(traced)),
      promptParts: isText ? NO_PARTS : [{ kind: "image", span: writer.imageSpan(traced), isInline: true }],
      maxOutputTokens: 0,
      cacheSalt: "",
      isRepeatable: true,
      isFollowUp: false,
    };
  }

  #headOf({ headers }: TraceRequest, index: number): Head {
    if (headers === undefined) return this.#heads[index % this.#heads.length]!;
    const known = this.#ownHeads.get(headers);
    if (known !== undefined) return known;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = headWith([...this.#targetLines[index % this.#targetLines.length]!, ...lines]);
    this.#ownHeads.set(headers, head);
    return head;
  }

  /** A request whose body has come and is parsed. */
  run(traced: TraceRequest, index: number, { config, parts }: RouterSide): Run {
    const ticket = new Ticket(`simulated-${index}`, "POST", parts.services.clock.now());
    ticket.path = PATH;
    const head = this.#headOf(traced, index);
    const run = new Run(ticket, head, "", config, parts, makeClient());
    const bytes = this.#writer.write(traced);
    run.query = String(index);
    run.parser = PARSER;
    run.parsed = this.#parse(traced, bytes);
    // Features may read it before the request is decided; who waits gets it anew.
    run.body = new JsonBody(bytes, bytes.length, NO_KEYS);
    return run;
  }

  /** The request's body is spelt out anew each time it is read; the bytes last until the next body is. */
  make(traced: TraceRequest, run: Run): InferenceRequest {
    const bytes = this.#writer.write(traced);
    run.body = new JsonBody(bytes, bytes.length, NO_KEYS);
    const load = run.pool.load.at(run.parts.services.clock.now());
    const request = withTarget(run.parsed!, run, run.config, run.pool, load);
    return Object.defineProperty(request, "body", { get: () => this.#writer.write(traced) });
  }

  /** The router's estimate of a token count. */
  #believed(tokens: number): number {
    if (this.#tokenError === 0) return tokens;
    return Math.max(1, Math.round(tokens * (1 + this.#tokenError * (2 * this.#random() - 1))));
  }
}

/** Takes whatever comes, and waits for the end. */
const makeClient = () => ({
  hasStarted: false,
  start() {
    this.hasStarted = true;
  },
  write: () => true,
  flush() {},
  end() {},
  abort() {},
  holdBody() {},
});

/** Targets are in the headers that clients of the reference router send. */
function targetLines({ ttftMs, tpotMs }: SimulatedTargets): readonly string[] {
  const ttft = Number.isFinite(ttftMs) ? `x-llm-d-slo-ttft-ms: ${ttftMs}\r\n` : "";
  const tpot = Number.isFinite(tpotMs) ? `x-llm-d-slo-tpot-ms: ${tpotMs}\r\n` : "";
  return [ttft, tpot];
}

function headWith(lines: readonly string[]): Head {
  const parser = new HeadParser("request", DEFAULT_LIMITS);
  parser.push(Buffer.from(`POST ${PATH} HTTP/1.1\r\nhost: simulated\r\n${lines.join("")}\r\n`), 0);
  return parser.head;
}

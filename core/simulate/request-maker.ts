import { JsonBody } from "../body/json-body.ts";
import { NO_KEYS } from "../body/noted-keys.ts";
import type { Random } from "../contract/profile-plugin.ts";
import { NO_PARTS } from "../contract/prompt-part.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import type { Incoming } from "../request/incoming.ts";
import { withTarget } from "../request/parse.ts";
import { DEFAULT_LIMITS } from "../settings.ts";
import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";
import type { SimulatedTargets } from "./metrics.ts";
import { imageSpan, PromptWriter, textTokens } from "./prompt-bytes.ts";
import type { RouterSide } from "./router-side.ts";
import type { Trace, TraceRequest } from "./trace.ts";

const PATH = "/v1/completions";
/** What a router takes text for that it knows nothing else of. */
const BYTES_PER_TOKEN = 4;

interface RequestSettings {
  /** How far off the router's token counts may be, as a share. */
  readonly tokenError: number;
  readonly targets: readonly SimulatedTargets[];
}

/** Makes of a trace's requests what the router's parse stage makes of a client's: the body is the prompt and nothing else. */
export class RequestMaker {
  readonly #writer: PromptWriter;
  /** One for each of the targets that requests have in turn. */
  readonly #heads: readonly Head[];
  /** By the headers of the trace. */
  readonly #ownHeads = new Map<object, Head>();
  readonly #tokenError: number;
  readonly #random: Random;

  constructor(trace: Trace, { tokenError, targets }: RequestSettings, random: Random) {
    this.#writer = new PromptWriter(trace.requests);
    this.#heads = targets.map(headFor);
    this.#tokenError = tokenError;
    this.#random = random;
  }

  parse(traced: TraceRequest): ParsedBody {
    const bytes = this.#writer.write(traced);
    const span = imageSpan(traced);
    const isText = traced.image?.isRecognised !== true;
    return {
      model: traced.model,
      modelSpan: [0, 0],
      isStream: true,
      promptSpans: [[0, bytes.length]],
      promptTokens: this.#believed(isText ? bytes.length / BYTES_PER_TOKEN : textTokens(traced)),
      promptParts: isText ? NO_PARTS : [{ kind: "image", span, isInline: true }],
      maxOutputTokens: 0,
      cacheSalt: "",
      isRepeatable: true,
      isFollowUp: false,
    };
  }

  headOf({ headers }: TraceRequest, index: number): Head {
    if (headers === undefined) return this.#heads[index % this.#heads.length]!;
    const known = this.#ownHeads.get(headers);
    if (known !== undefined) return known;
    const head = headWith(Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`));
    this.#ownHeads.set(headers, head);
    return head;
  }

  /** The request's body is spelt out anew each time it is read; the bytes last until the next body is. */
  make(traced: TraceRequest, parsed: ParsedBody, index: number, router: RouterSide): InferenceRequest {
    const bytes = this.#writer.write(traced);
    const incoming: Incoming = {
      id: `simulated-${index}`,
      head: this.headOf(traced, index),
      path: PATH,
      query: "",
      peer: "",
      parser: { name: "trace", type: "completions", plugin: { routes: [], dialect: "openai", keys: [], parse: () => parsed } },
      body: new JsonBody(bytes, bytes.length, NO_KEYS),
    };
    const request = withTarget(parsed, incoming, router.config, router.pool, router.services.clock.now());
    return Object.defineProperty(request, "body", { get: () => this.#writer.write(traced) });
  }

  /** The router's estimate of a token count. */
  #believed(tokens: number): number {
    if (this.#tokenError === 0) return tokens;
    return Math.max(1, Math.round(tokens * (1 + this.#tokenError * (2 * this.#random() - 1))));
  }
}

/** The head of requests with these targets, which are in the headers that clients of the reference router send. */
function headFor({ ttftMs, tpotMs }: SimulatedTargets): Head {
  const ttft = Number.isFinite(ttftMs) ? `x-llm-d-slo-ttft-ms: ${ttftMs}\r\n` : "";
  const tpot = Number.isFinite(tpotMs) ? `x-llm-d-slo-tpot-ms: ${tpotMs}\r\n` : "";
  return headWith([ttft, tpot]);
}

function headWith(lines: readonly string[]): Head {
  const parser = new HeadParser("request", DEFAULT_LIMITS);
  parser.push(Buffer.from(`POST ${PATH} HTTP/1.1\r\nhost: simulated\r\n${lines.join("")}\r\n`), 0);
  return parser.head;
}

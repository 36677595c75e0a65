import type { RouteParser } from "../../../../core/active-config.ts";
import { JsonBody } from "../../../../core/body/json-body.ts";
import { BodyScanner } from "../../../../core/body/scan.ts";
import type { BodyView } from "../../../../core/contract/body-view.ts";
import { type Dialect, RouterError } from "../../../../core/contract/errors.ts";
import { type FoundModel, modelInQuery } from "../../../../core/contract/model-in-target.ts";
import type { BodyReader, Parser } from "../../../../core/contract/parser.ts";
import { NO_PARTS } from "../../../../core/contract/prompt-part.ts";
import type { ParsedBody } from "../../../../core/contract/request.ts";
import type { Span } from "../../../../core/contract/span.ts";

const OBJECT = 0x7b;
/** Objects of a message in which the model may stand, beside the message itself. */
const INNER = ["session", "response"] as const;

/** Whether the query names the model. Throws RouterError where it names two. */
export function isNamedInQuery(path: string, query: string): boolean {
  return modelInQuery("model", path, query).model !== "";
}

/** Reads the model from the query; there is no body. */
export function queryParser(dialect: Dialect): RouteParser {
  return parserOf({
    ...{ routes: [], dialect, keys: [] },
    parse: (_body, path, query) => requestFor(modelInQuery("model", path, query)),
  });
}

/** Reads it from the first message, which is the body. */
export function messageParser(dialect: Dialect, maxDepth: number): RouteParser {
  return parserOf({
    ...{ routes: [], dialect, keys: [] },
    reader: () => new MessageReader(maxDepth),
    parse: (body) => requestFor(modelInMessage(body)),
  });
}

function parserOf(plugin: Parser): RouteParser {
  return { name: "websockets", type: "websockets", plugin, keys: plugin.keys };
}

function modelInMessage(body: BodyView): FoundModel {
  const model = body.text("model") ?? "";
  if (model !== "") return { model, modelSpan: body.span("model")!, modelIn: undefined };
  throw new RouterError(
    "missing_model",
    'Name the model in the query (?model=), or as "model" of the first message, of its "session" or of its "response".',
  );
}

/** What is said later has no part in the choice, so the prompt is not known. Nothing is processed before the handshake is answered. */
function requestFor(found: FoundModel): ParsedBody {
  return {
    ...found,
    isStream: false,
    promptSpans: [],
    promptTokens: 0,
    maxOutputTokens: 0,
    cacheSalt: "",
    isRepeatable: true,
  };
}

/** A whole message, whose one key is "model". Throws RouterError as the reader does. */
export function readMessage(bytes: Uint8Array, maxDepth: number): JsonBody {
  const reader = new MessageReader(maxDepth);
  reader.finish(bytes, bytes.length);
  return new JsonBody(bytes, bytes.length, reader);
}

/** Finds the one "model" of a message. Throws RouterError where it names two, or is no JSON. */
class MessageReader implements BodyReader {
  readonly parts = NO_PARTS;
  readonly #message: BodyScanner;
  readonly #maxDepth: number;
  #model: Span | undefined;

  constructor(maxDepth: number) {
    this.#message = new BodyScanner(["model", ...INNER], maxDepth);
    this.#maxDepth = maxDepth;
  }

  push(bytes: Uint8Array, length: number): void {
    this.#message.push(bytes, length);
  }

  finish(bytes: Uint8Array, length: number): void {
    this.#message.finish(bytes, length);
    const inner = INNER.map((key) => this.#modelIn(bytes, this.#message.spanOf(key)));
    const [first, second] = [this.#message.spanOf("model"), ...inner].filter((span) => span !== undefined);
    if (second !== undefined) throw new RouterError("invalid_value", "The message names the model twice; name it once.");
    this.#model = first;
  }

  spanOf(field: string): Span | undefined {
    return field === "model" ? this.#model : undefined;
  }

  #modelIn(bytes: Uint8Array, span: Span | undefined): Span | undefined {
    if (span === undefined || bytes[span[0]] !== OBJECT) return undefined;
    const object = bytes.subarray(...span);
    const scanner = new BodyScanner(["model"], this.#maxDepth);
    scanner.finish(object, object.length);
    const found = scanner.spanOf("model");
    return found && [span[0] + found[0], span[0] + found[1]];
  }
}

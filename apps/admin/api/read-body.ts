import { readJsonBody } from "../../../core/body/json-body.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { z } from "../../../core/contract/options.ts";
import { bodyTooLarge, MAX_BODY_BYTES, Problem } from "../problem.ts";

const NO_KEYS = { keys: [] };
const DEEPEST = 64;
/** Each may be a fault, and to find and describe one takes microseconds in which no request is served. */
const MOST_VALUES = 2_000;
const MOST_FAULTS = 20;

/** The body as JSON that the schema accepts; an empty one is an empty object. Throws Problem. */
export async function readBody<Body>(request: Request, schema: z.ZodType<Body>): Promise<Body> {
  const bytes = await bytesOf(request);
  const result = schema.safeParse(bytes.length === 0 ? {} : parsed(bytes));
  if (result.success) return result.data;
  const { issues } = result.error;
  const faults = issues.slice(0, MOST_FAULTS).map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  if (issues.length > MOST_FAULTS) faults.push(`and ${issues.length - MOST_FAULTS} more`);
  throw new Problem(400, "invalid_body", "The body does not have the shape that this path takes; see faults.", { faults });
}

const TOO_MANY_VALUES = `The body has more than ${MOST_VALUES} values; send a shorter one, or write a large rewrite into a config file.`;

async function bytesOf(request: Request): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    length += part.value.length;
    if (length > MAX_BODY_BYTES) throw bodyTooLarge();
    parts.push(part.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    // Runtimes take a second to parse what is nested very deeply.
    readJsonBody(bytes, NO_KEYS, DEEPEST);
    if (hasMoreValues(bytes, MOST_VALUES)) throw new Problem(413, "too_many_values", TOO_MANY_VALUES);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (thrown) {
    if (thrown instanceof Problem) throw thrown;
    const detail = thrown instanceof RouterError ? thrown.message : "The body is not a JSON document in UTF-8; correct it.";
    throw new Problem(400, "invalid_json", detail);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Whether a JSON text has more than `most` commas, lists and objects: counted before it is parsed, since objects of many keys take long. */
function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let seen = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (isInText && byte === BACKSLASH) at += 1;
    else if (!isInText && (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT)) seen += 1;
    if (seen > most) return true;
  }
  return false;
}

import { RouterError } from "../contract/errors.ts";

/** Each message is one sentence. It gives the position, never the content. */
const invalid = (message: string) => new RouterError("invalid_json", message);

export function malformed(bytes: Uint8Array, at: number): RouterError {
  const byte = bytes[at]!;
  if (at === 0 && (byte === 0xef || byte === 0xfe || byte === 0xff))
    return invalid("The body begins with a byte order mark at byte 0; send it in UTF-8 without one.");
  if (at < 4 && byte === 0) return invalid(`The body has a zero byte at byte ${at}, as UTF-16 and UTF-32 do; send it in UTF-8.`);
  return invalid(`The body is not valid JSON at byte ${at}; send one JSON object in UTF-8.`);
}

/** The error for a first byte that can't begin an object. */
export function notAnObject(bytes: Uint8Array, at: number): RouterError {
  const isOtherValue = '"[-0123456789tfn'.includes(String.fromCharCode(bytes[at]!));
  if (!isOtherValue) return malformed(bytes, at);
  return invalid(`The body must be a JSON object; at byte ${at} send "{" and the request's fields.`);
}

export function truncated(end: number, hasBegun: boolean): RouterError {
  if (!hasBegun) return invalid(`The body ends at byte ${end} without content; send one JSON object.`);
  return invalid(`The body ends at byte ${end}, inside its JSON object; send the whole object.`);
}

export function trailing(at: number): RouterError {
  return invalid(`The body continues at byte ${at}, after its JSON object; send one object and nothing else.`);
}

export function tooDeep(at: number, maxDepth: number): RouterError {
  return invalid(`The body nests deeper than ${maxDepth} levels at byte ${at}; send fewer levels.`);
}

export function duplicateKey(key: string, at: number): RouterError {
  return new RouterError("invalid_value", `The body has the key "${key}" a second time at byte ${at}; send it once.`);
}

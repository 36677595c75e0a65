import assert from "node:assert/strict";

/** A request in the one form in which the router may write it. */
export interface CleanRequest {
  readonly method: string;
  readonly target: string;
  /** In the order they came; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const START_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+.^`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*?)[ \t]*$/;
/** Each would give a second opinion on where the request ends, or is meant for the hop before. */
const FORBIDDEN =
  /^(transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|forwarded|x-forwarded-(?!for$).*|x-gateway-.*)$/;
const ONCE = ["host", "content-length", "x-request-id", "x-forwarded-for", "accept-encoding"];

/**
 * Takes one request off the start of what a replica received; undefined while it is not all there. Far stricter than any
 * server, and written apart from the router's codec: it throws at everything that two servers could read differently.
 */
export function takeCleanRequest(received: Buffer): { readonly request: CleanRequest; readonly rest: Buffer } | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [startLine = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
  const start = START_LINE.exec(startLine);
  assert.ok(start, `not a clean start line: ${JSON.stringify(startLine)}`);
  const headers = lines.map((line) => {
    const header = HEADER_LINE.exec(line);
    assert.ok(header, `not a clean header line: ${JSON.stringify(line)}`);
    return [header[1]!.toLowerCase(), header[2]!] as const;
  });
  const names = headers.map(([name]) => name);
  assert.deepEqual(
    names.filter((name) => FORBIDDEN.test(name)),
    [],
    "headers that no replica may see",
  );
  for (const name of ONCE) assert.ok(names.indexOf(name) === names.lastIndexOf(name), `${name} is repeated`);
  assert.ok(names.includes("host"), "a request without Host");
  const length = headers.find(([name]) => name === "content-length")?.[1] ?? "0";
  assert.match(length, /^\d{1,9}$/);
  const bodyStart = headEnd + 4;
  const bodyEnd = bodyStart + Number(length);
  if (received.length < bodyEnd) return undefined;
  const request = { method: start[1]!, target: start[2]!, headers, body: received.subarray(bodyStart, bodyEnd) };
  return { request, rest: received.subarray(bodyEnd) };
}

/** The value of a request's header; undefined where there is none. */
export function headerOf({ headers }: CleanRequest, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}

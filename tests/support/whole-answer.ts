/** One HTTP answer taken apart. */
export interface WholeAnswer {
  readonly status: number;
  readonly reason: string;
  /** In the order they came; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Without framing, as latin1. */
  readonly body: string;
  /** False where the body broke off before its declared end. */
  readonly isComplete: boolean;
}

/** Takes apart everything a connection brought up to its end. */
export function wholeAnswer(received: string): WholeAnswer {
  const headEnd = received.indexOf("\r\n\r\n");
  const [startLine = "", ...lines] = received.slice(0, headEnd).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const headerOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1];
  const rest = received.slice(headEnd + 4);
  const isChunked = headerOf("transfer-encoding") === "chunked";
  const { body, isComplete } = isChunked
    ? dechunk(rest)
    : { body: rest, isComplete: rest.length === Number(headerOf("content-length") ?? 0) };
  return { status: Number(startLine.slice(9, 12)), reason: startLine.slice(13), headers, body, isComplete };
}

function dechunk(rest: string): { body: string; isComplete: boolean } {
  let at = 0;
  let body = "";
  while (at < rest.length) {
    const lineEnd = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.slice(at, lineEnd), 16);
    if (size === 0) return { body, isComplete: rest.slice(lineEnd) === "\r\n\r\n" };
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
  return { body, isComplete: false };
}

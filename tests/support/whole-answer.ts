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
  const { answer, rest } = takeAnswer(received, "POST");
  return { ...answer, isComplete: answer.isComplete && rest === "" };
}

/** All answers that a connection brought, to requests with the given methods; interim ones are left out. */
export function answersIn(received: string, methods: readonly string[] = []): WholeAnswer[] {
  const answers: WholeAnswer[] = [];
  let left = received;
  while (left !== "") {
    const { answer, rest } = takeAnswer(left, methods[answers.length] ?? "POST");
    if (answer.status >= 200 || answer.status === 0) answers.push(answer);
    left = rest;
  }
  return answers;
}

function takeAnswer(received: string, method: string): { answer: WholeAnswer; rest: string } {
  const headEnd = received.indexOf("\r\n\r\n");
  const [startLine = "", ...lines] = received.slice(0, headEnd < 0 ? received.length : headEnd).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(startLine)?.[1] ?? 0);
  const head = { status, reason: startLine.slice(13), headers };
  if (headEnd < 0) return { answer: { ...head, body: "", isComplete: false }, rest: "" };
  const { rest, ...body } = takeBody(received.slice(headEnd + 4), head, method);
  return { answer: { ...head, ...body }, rest };
}

function takeBody(received: string, { status, headers }: Pick<WholeAnswer, "status" | "headers">, method: string) {
  const headerOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1];
  if (method === "HEAD" || status < 200 || status === 204 || status === 304)
    return { body: "", isComplete: true, rest: received };
  if (headerOf("transfer-encoding") === "chunked") return dechunk(received);
  const length = Number(headerOf("content-length") ?? received.length);
  return { body: received.slice(0, length), isComplete: received.length >= length, rest: received.slice(length) };
}

function dechunk(received: string): { body: string; isComplete: boolean; rest: string } {
  let at = 0;
  let body = "";
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(received.slice(at, at + 20));
    if (line === null) return { body, isComplete: false, rest: "" };
    const start = at + line[0].length;
    const size = Number.parseInt(line[1]!, 16);
    if (size === 0) return { body, isComplete: received.startsWith("\r\n", start), rest: received.slice(start + 2) };
    body += received.slice(start, start + size);
    at = start + size + 2;
  }
}

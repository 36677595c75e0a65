type Members = Readonly<Record<string, unknown>>;

/** Where the errors of engines and APIs have a status, and words for it. */
const CODES = ["code", "status_code", "http_status_code", "status"] as const;
const WORDS = ["code", "type", "error_type", "status"] as const;

/**
 * Words that mean a status which is the request's own fault, or too much to do: the phrases of HTTP, the types of OpenAI and Anthropic,
 * the classes of their packages, the codes of responses. Compared in lower case, as letters alone.
 */
const MEANINGS: readonly (readonly [word: RegExp, status: number])[] = [
  [/^(ratelimit|toomanyrequests|insufficientquota)/, 429],
  [/^(unauthorized|authentication|invalidapikey|invalidauthentication)/, 401],
  [/^(permission|forbidden)/, 403],
  [/^(model|resource)?notfound/, 404],
  [/^(request|payload|content)(entity)?toolarge/, 413],
  [/^(unprocessable|validation|requestvalidation)/, 422],
  [/^(badrequest|invalid(request|prompt|argument|input|param|value|image|base64))/, 400],
  [/^(contextlengthexceeded|exceedcontextsize|unsupportedimage|emptyimage|image)/, 400],
];

const DATA_LINE = /^(?:data|error): ?(.*)$/gm;
/** The last one of its kind. Text is inside of JSON strings, where quotes are escaped. */
const LAST_CODE = /^.*"(?:code|status_code|http_status_code|status)"\s*:\s*"?([45]\d\d)\b/s;
const LAST_TYPE = /^.*"(?:type|error_type)"\s*:\s*"([^"\\]*)"/s;

/**
 * The status that an error inside of a response with status 2xx means, where it is one of those of a request that can't succeed (400
 * to 422), or of too much to do (429). 0: it is the replica's fault, or does not say.
 *
 * @param said - an event, or a JSON document
 */
export function saidStatus(said: string): number {
  const members = read(said.startsWith("{") ? said : dataOf(said));
  return members === undefined ? 0 : statusIn([members["error"], errorOf(members["response"]), members]);
}

/** The same of an error without its beginning: it may be longer than what is kept of a response. */
export function statusAtEnd(said: string): number {
  return statusOf(LAST_CODE.exec(said)?.[1], [LAST_TYPE.exec(said)?.[1]]);
}

function dataOf(event: string): string {
  return Array.from(event.matchAll(DATA_LINE), ([, data]) => data).join("\n");
}

function read(text: string): Members | undefined {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function statusIn(candidates: readonly unknown[]): number {
  for (const candidate of candidates) {
    const members = membersOf(candidate);
    if (members === undefined) continue;
    const code = CODES.map((name) => members[name]).find(isStatus);
    const words = WORDS.map((name) => members[name]);
    const status = statusOf(code, words);
    if (code !== undefined || status > 0) return status;
  }
  return 0;
}

/** A code of HTTP counts more than words. */
function statusOf(code: unknown, words: readonly unknown[]): number {
  if (code !== undefined) return isRequestsOwn(Number(code)) ? Number(code) : 0;
  for (const word of words) {
    const letters = typeof word === "string" ? word.toLowerCase().replace(/[^a-z]/g, "") : "";
    const meaning = MEANINGS.find(([pattern]) => pattern.test(letters));
    if (meaning !== undefined) return meaning[1];
  }
  return 0;
}

function isRequestsOwn(status: number): boolean {
  return (status >= 400 && status <= 422) || status === 429;
}

function isStatus(code: unknown): boolean {
  return (typeof code === "number" || typeof code === "string") && /^[45]\d\d$/.test(String(code));
}

function errorOf(response: unknown): unknown {
  return membersOf(response)?.["error"];
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null ? (value as Members) : undefined;
}

/** Why a request to the admin API was refused: it becomes an RFC 9457 problem document. */
export class Problem extends Error {
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;
  readonly more: ProblemExtras;

  /** `detail` is a sentence that says what to do. It must not hold a secret. */
  constructor(status: number, code: string, detail: string, more: ProblemExtras = {}) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

interface ProblemExtras {
  /** Value of the Allow header. */
  readonly allow?: string;
  /** Single faults, each as a sentence with its place. */
  readonly faults?: readonly string[];
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  412: "Precondition failed",
  413: "Body too large",
  415: "Unsupported media type",
  421: "Misdirected request",
  422: "Invalid config",
  500: "Internal error",
  503: "Unavailable",
};

/** The parts of the response to a refused request. */
export function problemParts({ status, code, message, more }: Problem): { readonly headers: Headers; readonly text: string } {
  const document = {
    type: `urn:signalbox:problem:${code}`,
    title: TITLES[status] ?? "Failed",
    status,
    detail: message,
    code,
    ...(more.faults && { faults: more.faults }),
  };
  const headers = new Headers({ "content-type": "application/problem+json" });
  if (more.allow !== undefined) headers.set("allow", more.allow);
  if (status === 401) headers.set("www-authenticate", "Bearer");
  return { headers, text: JSON.stringify(document) };
}

export function problemResponse(problem: Problem): Response {
  const { headers, text } = problemParts(problem);
  return new Response(text, { status: problem.status, headers });
}

export function bodyTooLarge(): Problem {
  return new Problem(413, "body_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes; send a shorter one.`);
}

/** Largest body of a request to the admin API. */
export const MAX_BODY_BYTES = 1024 * 1024;

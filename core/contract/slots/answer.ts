import type { RequestRun } from "./request-run.ts";

/**
 * Does the router answer this request by itself? `answer` is called when a request may go on, before anything is decided about it. The
 * first answer counts; undefined: the request goes to a replica. `routes` are paths beside those of the parsers, which no replica
 * answers. Both may throw a RouterError, or reject with one, to refuse the request.
 *
 * @example
 * answer: (run) => (run.parsed?.model === "fast" ? { status: 200, headers: {}, body: "soon" } : undefined)
 */
export interface AnswerSlot {
  answer?(run: RequestRun): Answer | Promise<Answer | undefined> | undefined;
  readonly routes?: readonly OwnRoute[];
}

/** A whole response. */
export interface Answer {
  readonly status: number;
  /** By their names, such as "content-type"; the router adds the request's id and the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A path that a feature answers. */
export interface OwnRoute {
  /** GET is for HEAD too. */
  readonly method: "GET" | "POST" | "DELETE";
  /** Such as "/v1/models", or "/v1/models/*" for all that is below it. */
  readonly path: string;
  /** How long its body may be, in bytes; 0: the body is not read. */
  readonly bodyBytes: number;
  /** It only says why the path is not served, so no error names it as one that is. */
  readonly isRefused?: boolean;
  answer(run: RequestRun): Answer | Promise<Answer>;
}

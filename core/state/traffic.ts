import type { Endpoint } from "../contract/endpoint.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** Whether anything was generated in a whole response with status 2xx; unread where that is not looked for. */
export type Content = "some" | "none" | "unread";

/** What bookings tell of tries at endpoints, for whoever watches over them. Times are on the router's clock. */
export interface Traffic {
  /** A request is sent for the first time, or again. */
  sent(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void;
  /** The first token of a streamed response came after `seenMs`; so many prompt tokens were ahead of it, its own included. */
  firstToken(request: InferenceRequest, endpoint: Endpoint, seenMs: number, tokensAhead: number): void;
  /** A whole response was passed on, or a 503 or 429 was not. The request was sent at `sentAtMs`. */
  responded(
    request: InferenceRequest,
    endpoint: Endpoint,
    status: number,
    sentAtMs: number,
    nowMs: number,
    content: Content,
  ): void;
  /** Whether an answer to the request in which nothing was generated is nothing unusual. If not, it teaches nothing. */
  takesEmpty(request: InferenceRequest, endpoint: Endpoint): boolean;
  /** A whole response with status 2xx is none of its API: it lacks something, in a few words. */
  malformed(request: InferenceRequest, endpoint: Endpoint, lack: string, sentAtMs: number, nowMs: number): void;
  /** There is no response, or it broke off. */
  failed(request: InferenceRequest, endpoint: Endpoint, failure: AttemptFailure, sentAtMs: number, nowMs: number): void;
  /** The endpoint sent bytes that belong to no request. */
  unasked(endpoint: Endpoint, nowMs: number): void;
  /** The client takes nothing, so the endpoint's response is not read: its silence says nothing. `released` follows. */
  held(request: InferenceRequest, endpoint: Endpoint): void;
  /** The response is read again, or about to end. */
  released(request: InferenceRequest, endpoint: Endpoint, nowMs: number): void;
  /** The request's body is about to be freed, before its try ends: what is needed of it is taken now. */
  freesBody(request: InferenceRequest): void;
  /** The try was ended from this side. */
  abandoned(request: InferenceRequest, endpoint: Endpoint, sentAtMs: number): void;
}

/** Nobody watches. */
export const UNWATCHED: Traffic = {
  sent() {},
  firstToken() {},
  held() {},
  released() {},
  responded() {},
  takesEmpty: () => false,
  malformed() {},
  failed() {},
  unasked() {},
  freesBody() {},
  abandoned() {},
};

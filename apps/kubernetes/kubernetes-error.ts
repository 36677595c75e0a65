/** What is known of a failure beside its words. */
export interface FailureFacts {
  readonly cause?: unknown;
  /** The server said nothing, or broke off: it may be away. */
  readonly isSilence?: boolean;
  /** There was no connection: nobody listens there, or nobody is there. */
  readonly isUnconnected?: boolean;
  /** How long the server asks to be left alone (Retry-After). */
  readonly retryAfterMs?: number | undefined;
}

/** A request to the API server failed, or can't be made. */
export class KubernetesError extends Error {
  /** The HTTP status; 0 when there was no whole response. */
  readonly status: number;
  /** What the API server calls it, such as "NotFound" or "Expired"; "" if it did not say. */
  readonly reason: string;
  readonly isSilence: boolean;
  readonly isUnconnected: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    { cause, isSilence = false, isUnconnected = false, retryAfterMs }: FailureFacts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KubernetesError";
    this.status = status;
    this.reason = reason;
    this.isSilence = isSilence;
    this.isUnconnected = isUnconnected;
    this.retryAfterMs = retryAfterMs;
  }
}

export const isUnconnected = (thrown: unknown) => thrown instanceof KubernetesError && thrown.isUnconnected;
export const isStatus = (thrown: unknown, status: number) => thrown instanceof KubernetesError && thrown.status === status;

/** A request to the API server failed, or can't be made. */
export class KubernetesError extends Error {
  /** The HTTP status; 0 when there was no whole response. */
  readonly status: number;
  /** What the API server calls it, such as "NotFound" or "Expired"; "" if it did not say. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KubernetesError";
    this.status = status;
    this.reason = reason;
  }
}

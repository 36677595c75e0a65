import type { RouterError } from "../contract/errors.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** A parsed request that asks to go on. */
export interface Applicant {
  readonly request: InferenceRequest;
  /** It may go on. Called at most once, at once or later; what it then decides on must be read anew. */
  admitted(): void;
  /** It may not. Called instead of `admitted`. */
  refused(error: RouterError): void;
}

/** Who may go on, and when. */
export interface Admission {
  apply(applicant: Applicant): void;
  /** The request is over, whether it was admitted or still waits: its place is free. Called once for each that applied. */
  leave(applicant: Applicant): void;
}

/** Everybody, at once. */
export const admitAll: Admission = {
  apply: (applicant) => applicant.admitted(),
  leave() {},
};

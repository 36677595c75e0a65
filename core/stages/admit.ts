import type { RouterError } from "../contract/errors.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** A parsed request that waits for admission. */
export interface Applicant {
  readonly request: InferenceRequest;
  /** The request may continue. Called at most once, perhaps later than `apply`, so facts must be read after it. */
  admitted(): void;
  /** The request must not continue. Called instead of `admitted`. */
  refused(error: RouterError): void;
}

/** Decides which requests may continue, and when. */
export interface Admission {
  apply(applicant: Applicant): void;
  /** The request has ended, admitted or still waiting: frees its place. Called once for each applicant. */
  leave(applicant: Applicant): void;
}

/** Admits every request at once. */
export const admitAll: Admission = {
  apply: (applicant) => applicant.admitted(),
  leave() {},
};

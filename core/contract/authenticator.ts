import type { Principal } from "./principal.ts";

/**
 * Who shows this credential? Authenticators are asked in the order of the config when a request's head has come; the first that
 * knows it decides. Without any, everybody may ask.
 *
 * @example
 * create: () => ({
 *   authenticate: (credential) =>
 *     credential === "guest" ? { name: "guest", tenant: "guest", priority: 0, models: undefined, limits: {} } : undefined,
 * })
 */
export interface Authenticator {
  /**
   * `credential` is what stands behind "Bearer " in Authorization, or in X-Api-Key; never empty. Undefined if it is not one of its
   * own. A RouterError, thrown or rejected with, refuses one that it knows, such as one that has expired. The request's body waits
   * while a promise is pending, and the request is refused where that takes too long.
   */
  authenticate(credential: string): Principal | undefined | Promise<Principal | undefined>;
  /** Why it can't do its work now, as words behind "The KIND X can't do its work: "; "" if it can. Called when somebody looks at the status. */
  trouble?(): string;
  dispose?(): void;
}

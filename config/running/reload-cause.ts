/**
 * What asked for another config: a change of the files, SIGHUP, the admin API, that a change's time is over, a guard of a rewrite, a cluster's
 * resources, or somebody who wants an earlier generation back.
 */
export const RELOAD_CAUSES = ["files", "signal", "api", "expiry", "guard", "cluster", "rollback"] as const;

export type ReloadCause = (typeof RELOAD_CAUSES)[number];

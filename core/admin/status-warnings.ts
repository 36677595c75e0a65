import { isServing } from "../contract/endpoint.ts";
import type { RouterView } from "../contract/router-view.ts";
import { isoTime } from "./endpoint-status.ts";
import type { RewriteStatus } from "./rewrite-status.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";

/** What the warnings are made of. */
interface Warned {
  readonly plugins: Pick<ShownRouter["plugins"], "times"> & { readonly faults: Pick<ShownRouter["plugins"]["faults"], "lately"> };
  readonly control: Pick<ShownRouter["control"], "unreadableSources">;
  readonly running: Pick<ShownConfig, "generation" | "lastReload" | "loaded" | "restored">;
  readonly rewrites: readonly RewriteStatus[];
  readonly view: RouterView;
  readonly features: Pick<ShownRouter["features"], "warnings">;
}

/** Who may have something to say, in the order in which it is shown. */
const WARNINGS: readonly ((now: Warned) => readonly string[])[] = [
  reloadWarnings,
  rollbackWarnings,
  certificateWarnings,
  poolWarnings,
  discoveryWarnings,
  ({ view, running, features }) => features.warnings(view, running.loaded.warnings),
  targetWarnings,
  keyWarnings,
  tlsWarnings,
  sourceWarnings,
  slowWarnings,
  faultWarnings,
];

/** What needs an operator's attention, as sentences. */
export function warningsOf(now: Warned): readonly string[] {
  return WARNINGS.flatMap((warn) => warn(now));
}

function reloadWarnings({ running: { lastReload } }: Warned): readonly string[] {
  if (lastReload === undefined || lastReload.isApplied) return [];
  const [first = "", ...others] = lastReload.problems;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return [`The changed config can't run, so the one before goes on: ${first}${more}`];
}

function rollbackWarnings({ running: { generation, restored } }: Warned): readonly string[] {
  if (restored === undefined) return [];
  return [
    `Generation ${restored} of the config runs instead of what the files say, until they are read again: write it into them (signalbox config rollback ${generation} --write), or change them.`,
  ];
}

function certificateWarnings({ view: { tls, clock } }: Warned): readonly string[] {
  const nowS = clock.wall() / 1000;
  return tls.certificates.flatMap(({ file, expiresAtS, renewAtS, fault }) => {
    const until = isoTime(expiresAtS * 1000);
    const isLate = nowS >= renewAtS;
    return [
      ...(fault === "" ? [] : [`The new certificate can't be used, so the one before goes on: ${fault}.`]),
      ...(isLate ? [`The certificate in ${file} ${nowS >= expiresAtS ? "expired" : "expires"} at ${until}: renew it.`] : []),
    ];
  });
}

/** Replicas that refuse the router's probes for want of a key. */
function keyWarnings({ view: { pool } }: Warned): readonly string[] {
  const names = pool.endpoints.filter((endpoint) => /^status 40[13]$/.test(pool.probeFailure(endpoint))).map(({ name }) => name);
  if (names.length === 0) return [];
  return [
    `Probes of ${shownNames(names)} are refused with 401 or 403: name the replicas' key in spec.pool.auth, such as { bearer: env:NAME }.`,
  ];
}

/** By why probes fail: what mends it. */
const TLS_REMEDIES: ReadonlyMap<string, string> = new Map([
  ["certificate expired", "renew it there"],
  ["certificate not yet valid", "compare the clocks of both machines"],
  ["certificate for another name", "set tls.serverName to a name that is in it"],
  ["certificate self-signed", "name the certificate itself in tls.caFile"],
  ["certificate of an unknown authority", "name the authority in tls.caFile"],
  ["client certificate refused", "name one that the replica accepts in tls.certFile and tls.keyFile"],
  ["no TLS there", "write http:// in the endpoint's url"],
  ["TLS failed", "see which versions and ciphers the replica has"],
]);

/** Replicas with which TLS fails. */
function tlsWarnings({ view: { pool } }: Warned): readonly string[] {
  return [...TLS_REMEDIES].flatMap(([failure, remedy]) => {
    const names = pool.endpoints.filter((endpoint) => pool.probeFailure(endpoint) === failure).map(({ name }) => name);
    return names.length === 0 ? [] : [`Probes of ${shownNames(names)} fail (${failure}): ${remedy}.`];
  });
}

function poolWarnings({ view: { pool } }: Warned): readonly string[] {
  return pool.endpoints.some(isServing) ? [] : [nobodyReady(pool.endpoints.length)];
}

/** The pool that they told last is used on, however old it is. */
function discoveryWarnings({ view: { clock, pool } }: Warned): readonly string[] {
  return [...pool.discoveryTroubles].map(([name, { text, sinceMs }]) => {
    const age = Number.isNaN(sinceMs)
      ? "It has found nothing yet"
      : `Its list is ${Math.round((clock.now() - sinceMs) / 1000)} s old`;
    return `The discovery "${name}" does not know the replicas as they are now. ${age}: ${text}`;
  });
}

function nobodyReady(poolSize: number): string {
  return poolSize === 0
    ? "The pool has no replicas: add some to the config, or wait until they are found."
    : "No replica is ready, so requests get 503: see the list of replicas for why their probes fail.";
}

/** Replicas whose own numbers could be read, and can't be any more, or whose exporter can't be read. */
function sourceWarnings({ control, view: { pool } }: Warned): readonly string[] {
  const names = pool.endpoints.filter((endpoint) => control.unreadableSources(endpoint).length > 0);
  if (names.length === 0) return [];
  const paths = [...new Set(names.flatMap((endpoint) => control.unreadableSources(endpoint)))].join(", ");
  return [`The numbers of ${shownNames(names.map(({ name }) => name))} at ${paths} can't be read: see the log for why.`];
}

function shownNames(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}

function faultWarnings({ plugins }: Warned): readonly string[] {
  return plugins.faults.lately.map((name) => `The plugin "${name}" breaks its contract: see the log for how.`);
}

function slowWarnings({ plugins }: Warned): readonly string[] {
  return plugins.times.slow.map(({ kind, name, meanMs, hasNoVote }) => {
    const now = hasNoVote ? " It has no vote until it is faster." : "";
    return `The ${kind} "${name}" takes ${meanMs.toFixed(1)} ms per request, more than limits.pluginMs.${now}`;
  });
}

/** Nothing where no replica serves, since that matters more. */
function targetWarnings({ rewrites, view: { pool } }: Warned): readonly string[] {
  return pool.endpoints.some(isServing) ? rewrites.flatMap(unservedTargets) : [];
}

function unservedTargets({ name, targets, onUnavailable }: RewriteStatus): readonly string[] {
  const what = onUnavailable === "refuse" ? "get 503" : "go to its other targets";
  return targets
    .filter(({ weight, readyEndpoints }) => weight > 0 && readyEndpoints === 0)
    .map(
      (target) =>
        `No ready replica serves "${target.name}", a target of the rewrite ${name}: its requests ${what}, unless a replica loads it when asked. Load it or set its weight to 0.`,
    );
}

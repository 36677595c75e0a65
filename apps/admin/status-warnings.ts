import { formatProblem, type Problem } from "../../config/read/problems.ts";
import { type Endpoint, isServing } from "../../core/contract/endpoint.ts";
import { counted } from "../../core/report/number-text.ts";
import { endpointsElsewhere } from "../../core/slots.ts";
import { isoTime } from "./endpoint-status.ts";
import { needWarnings, troubleWarnings } from "./need-warnings.ts";
import { allPools } from "./pool-sites.ts";
import type { RewriteStatus } from "./rewrite-status.ts";
import { tlsOf, viewOf } from "./router-view.ts";
import type { ViewedSite } from "./site.ts";

type Warn = (site: ViewedSite, rewrites: readonly RewriteStatus[]) => readonly string[];

const warningsOfFeatures: Warn = (site) => site.router.features.warnings(viewOf(site));

/** Who may have something to say, in the order in which it is shown. */
const WARNINGS: readonly Warn[] = [
  reloadWarnings,
  rollbackWarnings,
  certificateWarnings,
  poolWarnings,
  discoveryWarnings,
  sectionWarnings,
  warningsOfFeatures,
  targetWarnings,
  keyWarnings,
  tlsWarnings,
  sourceWarnings,
  leftOutWarnings,
  needWarnings,
  troubleWarnings,
  slowWarnings,
  faultWarnings,
];

/** Of these, who looks at one pool. */
const OF_EACH_POOL: readonly Warn[] = [
  ...[poolWarnings, discoveryWarnings, warningsOfFeatures, keyWarnings, tlsWarnings, sourceWarnings, leftOutWarnings],
  needWarnings,
  ...[slowWarnings, faultWarnings],
];

/** What needs an operator's attention, as sentences. */
export function warningsOf(site: ViewedSite, rewrites: readonly RewriteStatus[]): readonly string[] {
  const pools = allPools(site);
  const isOwnShown = pools[0]?.site.router === site.router;
  const own = WARNINGS.filter((warn) => isOwnShown || warn !== poolWarnings).flatMap((warn) => warn(site, rewrites));
  const further = pools.filter((pool) => pool.site.router !== site.router);
  const inPools = further.flatMap(({ name, site: inner }) =>
    OF_EACH_POOL.flatMap((warn) => warn(inner, [])).map((warning) => `Pool ${name}: ${warning}`),
  );
  return [...own, ...inPools];
}

/** What is wrong with the sections of features. */
function sectionWarnings({ router, running }: ViewedSite): readonly string[] {
  const sections = [...router.config.features.keys()];
  const isOfOne = ({ path }: Problem) => sections.some((key) => path.startsWith(`spec.${key}`));
  return running.loaded.warnings.filter(isOfOne).map(formatProblem);
}

function reloadWarnings({ running: { lastReload } }: ViewedSite): readonly string[] {
  if (lastReload === undefined || lastReload.isApplied) return [];
  const [first = "", ...others] = lastReload.problems;
  const cause = /[.?!]$/.test(first) ? first : `${first}.`;
  const more = others.length === 0 ? "" : ` (${counted(others.length, "more problem follows", "more problems follow")}.)`;
  return [`${cause}${more} So the changed config can't run, and the one before goes on.`];
}

function rollbackWarnings({ running: { generation, restored } }: ViewedSite): readonly string[] {
  if (restored === undefined) return [];
  return [
    `Generation ${restored} of the config runs instead of what the files say, until they are read again: write it into them (signalbox config rollback ${generation} --write), or change them.`,
  ];
}

function certificateWarnings(site: ViewedSite): readonly string[] {
  const nowS = site.clock.wall() / 1000;
  return tlsOf(site).certificates.flatMap(({ file, expiresAtS, renewAtS, fault }) => {
    const until = isoTime(expiresAtS * 1000);
    const isLate = nowS >= renewAtS;
    return [
      ...(fault === "" ? [] : [`The new certificate can't be used, so the one before goes on: ${fault}.`]),
      ...(isLate ? [`The certificate in ${file} ${nowS >= expiresAtS ? "expired" : "expires"} at ${until}: renew it.`] : []),
    ];
  });
}

/** Endpoints that should serve: what fails at one that somebody took out, or that is taken away, is no news. */
function wantedEndpoints({ router: { pool, control } }: ViewedSite): readonly Endpoint[] {
  return pool.facts.endpoints.filter(({ name, reported }) => reported !== "leaving" && control.intents.of(name) === undefined);
}

/** Replicas that refuse the router's probes for want of a key. */
function keyWarnings(site: ViewedSite): readonly string[] {
  const { control } = site.router;
  const refused = wantedEndpoints(site).filter((endpoint) => /^status 40[13]$/.test(control.probeFailure(endpoint)));
  const names = refused.map(({ name }) => name);
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
function tlsWarnings(site: ViewedSite): readonly string[] {
  const { control } = site.router;
  const wanted = wantedEndpoints(site);
  return [...TLS_REMEDIES].flatMap(([failure, remedy]) => {
    const names = wanted.filter((endpoint) => control.probeFailure(endpoint) === failure).map(({ name }) => name);
    return names.length === 0 ? [] : [`Probes of ${shownNames(names)} fail (${failure}): ${remedy}.`];
  });
}

function poolWarnings(site: ViewedSite): readonly string[] {
  const { endpoints } = site.router.pool.facts;
  return endpoints.some(isServing) ? [] : [nobodyReady(endpoints, wantedEndpoints(site))];
}

/** The pool that they told last is used on, however old it is. */
function discoveryWarnings({ router, clock }: ViewedSite): readonly string[] {
  return [...router.control.discoveryTroubles].map(([name, { text, sinceMs }]) => {
    const age = Number.isNaN(sinceMs)
      ? "It has found nothing yet"
      : `Its list is ${Math.round((clock.now() - sinceMs) / 1000)} s old`;
    return `The discovery "${name}" does not know the replicas as they are now. ${age}: ${text}`;
  });
}

function nobodyReady(endpoints: readonly Endpoint[], wanted: readonly Endpoint[]): string {
  if (endpoints.length === 0) return "The pool has no replicas: add some to the config, or wait until they are found.";
  return wanted.length === 0
    ? "Every replica was taken out, so requests get 503: undrain one, or add one."
    : "No replica is ready, so requests get 503: see the list of replicas for why their probes fail.";
}

/** Replicas whose own numbers could be read, and can't be any more, or whose exporter can't be read. */
function sourceWarnings(site: ViewedSite): readonly string[] {
  const { control } = site.router;
  const names = wantedEndpoints(site).filter((endpoint) => control.unreadableSources(endpoint).length > 0);
  if (names.length === 0) return [];
  const paths = [...new Set(names.flatMap((endpoint) => control.unreadableSources(endpoint)))].join(", ");
  return [`The numbers of ${shownNames(names.map(({ name }) => name))} at ${paths} can't be read: see the log for why.`];
}

/** Replicas that list something that can't be. */
function leftOutWarnings(site: ViewedSite): readonly string[] {
  const { control } = site.router;
  const odd = wantedEndpoints(site).filter((endpoint) => control.leftOut(endpoint).length > 0);
  const [first] = odd.flatMap((endpoint) => control.leftOut(endpoint));
  return first === undefined ? [] : [`A part of what ${shownNames(odd.map(({ name }) => name))} lists is left out: ${first}.`];
}

function shownNames(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}

function faultWarnings({ router }: ViewedSite): readonly string[] {
  return router.plugins.faults.lately.map((name) => `The plugin "${name}" breaks its contract: see the log for how.`);
}

function slowWarnings({ router }: ViewedSite): readonly string[] {
  return router.plugins.times.slow.map(({ kind, name, meanMs, hasNoVote }) => {
    const now = hasNoVote ? " It has no vote until it is faster." : "";
    return `The ${kind} "${name}" takes ${meanMs.toFixed(1)} ms per request, more than limits.pluginMs.${now}`;
  });
}

/** Nothing where no replica serves, since that matters more. */
function targetWarnings({ router }: ViewedSite, rewrites: readonly RewriteStatus[]): readonly string[] {
  const all = [router.pool.facts.endpoints, endpointsElsewhere(router.config.modules)].flat();
  return all.some(isServing) ? rewrites.flatMap(unservedTargets) : [];
}

function unservedTargets({ name, targets, onUnavailable }: RewriteStatus): readonly string[] {
  const what = onUnavailable === "refuse" ? "get 503" : "go to its other targets";
  return targets
    .filter(({ weight, readyEndpoints, onDemandEndpoints }) => weight > 0 && readyEndpoints + onDemandEndpoints === 0)
    .map(
      (target) =>
        `No ready replica serves "${target.name}", a target of the rewrite ${name}: its requests ${what}, unless a replica loads it when asked. Load it or set its weight to 0.`,
    );
}

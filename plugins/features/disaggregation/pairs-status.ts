import { type Endpoint, isServing } from "../../../core/contract/endpoint.ts";
import { whole } from "../../../core/report/number-text.ts";
import type { PairsTally } from "./pairs-tally.ts";
import { LABEL_SOME, type Roles } from "./roles.ts";

export type PairsStatus = Readonly<ReturnType<typeof pairsStatus>>;

/** What pairs have done, and which endpoints make them, as JSON. */
export function pairsStatus(transfer: string, tally: PairsTally, roles: Roles, endpoints: readonly Endpoint[]) {
  const { paired, alone, unpairable, failed, causes } = tally;
  const namesOf = (isMeant: (endpoint: Endpoint) => boolean) => endpoints.filter(isMeant).map(({ name }) => name);
  return {
    transfer,
    paired,
    alone,
    unpairable,
    failed,
    causes: Object.fromEntries(causes),
    prefill: namesOf(roles.isPrefill),
    decode: namesOf(roles.isDecode),
  };
}

/** So many pairs that failed, and none that did not, are no accident. */
const LEAST_FAILED = 5;

/** What keeps pairs from being made, in sentences; not that a role is not ready where no endpoint serves at all: another warning says that. */
export function pairsWarnings(tally: PairsTally, roles: Roles, endpoints: readonly Endpoint[]): readonly string[] {
  const isReady = endpoints.some(isServing);
  const missing = [
    ...missingRole("processes prompts (prefill)", endpoints.filter(roles.isPrefill), isReady),
    ...missingRole("generates answers (decode)", endpoints.filter(roles.isDecode), isReady),
  ];
  const whys = missing.length === 0 ? allFailed(tally) : missing;
  return whys.map((why) => `spec.disaggregation makes no pairs: ${why}`);
}

function missingRole(role: string, endpoints: readonly Endpoint[], isAnyReady: boolean): readonly string[] {
  if (endpoints.length === 0) return [`no endpoint ${role}. ${LABEL_SOME}`];
  if (!isAnyReady || endpoints.some(({ isAvailable }) => isAvailable)) return [];
  return [`no endpoint that ${role} is ready, so each request has one replica for all of it.`];
}

function allFailed({ paired, failed, causes }: PairsTally): readonly string[] {
  if (paired > 0 || failed < LEAST_FAILED) return [];
  const [most = ""] = [...causes].sort(([, one], [, other]) => other - one).map(([cause]) => cause);
  return [
    `all ${whole(failed)} so far have failed (${most}): is spec.disaggregation.transfer what the engines are started with?`,
  ];
}

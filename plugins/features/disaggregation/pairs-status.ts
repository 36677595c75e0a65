import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { PairsTally } from "./pairs-tally.ts";
import type { Roles } from "./roles.ts";

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

/** What keeps pairs from being made, in sentences. */
export function pairsWarnings({ prefill, decode }: PairsStatus): readonly string[] {
  const missing = [
    ...(prefill.length === 0 ? ["processes prompts (prefill)"] : []),
    ...(decode.length === 0 ? ["generates answers (decode)"] : []),
  ];
  return missing.map(
    (role) =>
      `spec.disaggregation makes no pairs: no endpoint ${role}. Label some with llm-d.ai/role, or name them in spec.pool.roles.`,
  );
}

import type { Named } from "../../../core/active-config.ts";
import type { LegRole } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Filter } from "../../../core/contract/filter.ts";
import { type LabelSelector, matches } from "../../../core/contract/label-selector.ts";
import type { PoolRoles } from "../../../core/router-config.ts";

/** The label with an endpoint's role, and which of its values stand for which one. They are the reference router's. */
const ROLE_LABEL = "llm-d.ai/role";
const PREFILL: ReadonlySet<string> = new Set(["prefill", "encode-prefill", "prefill-decode", "both", "encode-prefill-decode"]);
const DECODE: ReadonlySet<string> = new Set(["decode", "prefill-decode", "both", "encode-prefill-decode"]);

/** What mends it where no endpoint has a role. */
export const LABEL_SOME = `Label some with ${ROLE_LABEL}, or name them in spec.pool.roles.`;

type IsRole = (endpoint: Pick<Endpoint, "labels">) => boolean;

/** What the endpoints of a pool may do of a request. */
export class Roles {
  /** Whether it may process prompts for others. */
  readonly isPrefill: IsRole;
  /** Whether it may generate answers from a cache that was transferred. */
  readonly isDecode: IsRole;

  constructor(selectors: PoolRoles | undefined) {
    this.isPrefill = selectors === undefined ? labelled(PREFILL) : selected(selectors.prefill, selectors.both);
    this.isDecode = selectors === undefined ? labelled(DECODE) : selected(selectors.decode, selectors.both);
  }

  /** Keeps those that may process prompts for others. */
  get prefillFilter(): Named<Filter> {
    return roleFilter("prefill", this.isPrefill);
  }

  /** Keeps those that may generate answers. */
  get decodeFilter(): Named<Filter> {
    return roleFilter("decode", (endpoint) => this.mayAnswer(endpoint));
  }

  /** Whether it may generate answers: also one without a role, which does all of a request. */
  mayAnswer(endpoint: Endpoint): boolean {
    return this.isDecode(endpoint) || !this.isPrefill(endpoint);
  }
}

function labelled(values: ReadonlySet<string>): IsRole {
  return ({ labels }) => values.has(labels[ROLE_LABEL] ?? "");
}

function selected(...selectors: readonly (LabelSelector | undefined)[]): IsRole {
  const tests = selectors.flatMap((selector) => (selector === undefined ? [] : [matches(selector)]));
  return ({ labels }) => tests.some((isMatch) => isMatch(labels));
}

function roleFilter(role: LegRole, isRole: (endpoint: Endpoint) => boolean): Named<Filter> {
  const message = `No replica may ${role === "decode" ? "generate answers" : "process prompts"}: label one with ${ROLE_LABEL}: ${role}, or name it in spec.pool.roles.`;
  return {
    name: `${role}-role`,
    type: `${role}-role`,
    plugin: {
      expresses: "need",
      filter: (_request, candidates) => candidates.filter(isRole),
      refuse: () => new RouterError("no_ready_endpoint", message, { retryAfterS: 1 }),
    },
  };
}

import { isServing, type ModelCard } from "../../../core/contract/endpoint.ts";
import type { TargetMapping } from "../../../core/contract/rewriter.ts";
import type { Facts } from "../../../core/state/facts.ts";

/** What the list of models says of one of them, under the engines' keys. */
interface ShownFields {
  readonly max_model_len?: number;
  readonly root?: string;
  readonly parent?: string | null;
}

/** What the replicas that serve a name agree on, and the smallest of their context lengths: any of them may get a request. */
export function aboutModel(name: string, { endpoints }: Facts): ShownFields {
  const cards = endpoints
    .filter((endpoint) => isServing(endpoint) && endpoint.models.has(name))
    .map(({ modelCards }): ModelCard => modelCards?.[name] ?? {});
  const [root, ...otherRoots] = new Set(cards.map((card) => card.root));
  const [parent, ...otherParents] = new Set(cards.map((card) => card.parent));
  return {
    ...shortest(cards.map(({ contextTokens }) => contextTokens)),
    ...(root !== undefined && otherRoots.length === 0 && { root }),
    ...(parent !== undefined && otherParents.length === 0 && { parent }),
  };
}

/** A rewrite's name stands for any of its targets, so it has the smallest context length of those that get requests. */
export function aboutTargets({ targets }: TargetMapping, facts: Facts): ShownFields {
  const drawn = targets.filter(({ weight }) => weight > 0);
  return shortest(drawn.map(({ name }) => aboutModel(name, facts).max_model_len));
}

function shortest(lengths: readonly (number | undefined)[]): ShownFields {
  const known = lengths.filter((length) => length !== undefined);
  return known.length === 0 ? {} : { max_model_len: Math.min(...known) };
}

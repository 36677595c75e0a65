import { isServing } from "../../../core/contract/endpoint.ts";
import type { RouterView } from "../../../core/contract/router-view.ts";

const PANIC =
  "More replicas fail than may be ejected, so all that are up are used: the list of replicas says why each was ejected.";

/** Which replicas are ejected; nothing where no replica serves: another warning says that. */
export function ejectionWarnings({ pool }: RouterView): readonly string[] {
  if (!pool.endpoints.some(isServing)) return [];
  if (pool.isPanicking) return [PANIC];
  const ejected = pool.endpoints.filter(({ ejection }) => ejection !== undefined).map(({ name }) => name);
  return ejected.length === 0 ? [] : [`Ejected because of their responses: ${ejected.join(", ")}.`];
}

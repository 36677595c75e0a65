import type { ConfigDocument } from "../read/documents.ts";
import type { Resource } from "../read/fit.ts";
import { didYouMean, quoted } from "../read/problems.ts";
import { POOL_GROUPS } from "../schema/pool-ref.ts";
import { keyOf, nameOf } from "./overlay.ts";

/** A resource that is about the traffic of one pool. */
interface PoolDocument {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly poolRef: { readonly name: string } };
}

/** Reports each resource whose kind and name an earlier one has. */
export function refuseDuplicates(resources: readonly Resource<PoolDocument>[]): void {
  const files = new Map<string, string>();
  for (const { file, document, report, wasCut } of resources) {
    if (wasCut(["metadata"])) continue;
    const { kind, metadata } = document;
    const key = keyOf(nameOf(document));
    const first = files.get(key);
    if (first !== undefined) {
      const found = `the ${kind} ${quoted(metadata.name)} a second time (the first is in ${first})`;
      report(["metadata", "name"], { found, wanted: "each resource once" });
    }
    files.set(key, first ?? file);
  }
}

/** Reports a resource that is about another pool. */
export function checkPool({ document, report, wasCut }: Resource<PoolDocument>, pool: string): void {
  const { name } = document.spec.poolRef;
  if (name === pool || wasCut(["spec", "poolRef", "name"])) return;
  report(["spec", "poolRef", "name"], {
    found: `${quoted(name)}, which is not this router's pool`,
    wanted: quoted(pool),
    hint: didYouMean(name, [pool]) || "The pool's name is spec.pool.name of the Router document.",
  });
}

/** Whether an unchecked resource names this pool; one that names none at all does, so that it is reported. */
export function isAboutPool({ value }: ConfigDocument, pool: string): boolean {
  const { spec } = value as { spec?: { poolRef?: Partial<Record<"group" | "name", unknown>> | null } | null };
  const { group = POOL_GROUPS[0], name = pool } = spec?.poolRef ?? {};
  return name === pool && POOL_GROUPS.some((known) => known === group);
}

import type { ClusterAccess } from "../client.ts";
import { Watch } from "../watch.ts";
import { listPath, POOL_KINDS, ROUTERS } from "./kinds.ts";
import { type TrackedResource, trackedResource } from "./tracked-resource.ts";

export interface ResourceWatchesOptions extends ClusterAccess {
  readonly namespace: string;
  /** The Router that gives a part of the config; undefined: none does. */
  readonly router: string | undefined;
  /** Resources have come, changed or gone, in what they say or in their status. */
  readonly changed: () => void;
}

/** All resources of a namespace that the router may use. */
export class ResourceWatches {
  readonly #watches: readonly Watch<TrackedResource>[];
  readonly #found: ReadonlyMap<string, TrackedResource>[] = [];

  constructor({ namespace, router, changed, ...rest }: ResourceWatchesOptions) {
    const followed = [
      ...(router === undefined ? [] : [{ kind: ROUTERS, query: { fieldSelector: `metadata.name=${router}` } }]),
      ...POOL_KINDS.map((kind) => ({ kind, query: {} })),
    ];
    this.#watches = followed.map(({ kind, query }, index) => {
      return new Watch<TrackedResource>({
        ...rest,
        path: listPath(kind, namespace),
        query,
        // Its CustomResourceDefinition may come later.
        isOptional: true,
        pick: (object) => trackedResource(kind, namespace, object),
        changed: (items) => {
          this.#found[index] = new Map(items);
          if (this.isSynced) changed();
        },
      });
    });
  }

  /** Whether all that there is is known. */
  get isSynced(): boolean {
    return this.#watches.every(({ isSynced }) => isSynced);
  }

  /** Since when something is missing, on the clock; undefined while all is watched, NaN if nothing was ever known. */
  get staleSinceMs(): number | undefined {
    const all = this.#watches.map(({ staleSinceMs }) => staleSinceMs).filter((since) => since !== undefined);
    return all.length === 0 ? undefined : Math.min(...all);
  }

  get resources(): readonly TrackedResource[] {
    return this.#found.flatMap((items) => [...items.values()]);
  }

  start(): void {
    for (const watch of this.#watches) watch.start();
  }

  stop(): void {
    for (const watch of this.#watches) watch.stop();
  }
}

import { isMapping } from "../../../config/read/problems.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { TrackedResource } from "./tracked-resource.ts";

/** Whether a replica has the target; undefined while not all replicas have said what they have. */
export type HasTarget = (name: string) => boolean | undefined;

/** A target that a replica had is missed for so long before it counts as gone: replicas restart. */
const GONE_MS = 10_000;

/** The targets that resources name, and that no replica has. */
export class TargetRefs {
  readonly #clock: Clock;
  /** When a replica had the target last; -Infinity for one that none ever had. */
  readonly #hadAtMs = new Map<string, number>();
  #missing: ReadonlySet<string> = new Set();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks for the targets of these resources. Returns whether others are missing now than before. */
  look(resources: readonly TrackedResource[], hasTarget: HasTarget): boolean {
    const nowMs = this.#clock.now();
    const names = new Set(resources.flatMap(targetNames));
    for (const name of this.#hadAtMs.keys()) if (!names.has(name)) this.#hadAtMs.delete(name);
    const missing = [...names].filter((name) => {
      const isThere = hasTarget(name);
      if (isThere === true) this.#hadAtMs.set(name, nowMs);
      if (isThere === undefined) return this.#missing.has(name);
      return !isThere && nowMs - (this.#hadAtMs.get(name) ?? Number.NEGATIVE_INFINITY) >= GONE_MS;
    });
    const isSame = missing.length === this.#missing.size && missing.every((name) => this.#missing.has(name));
    this.#missing = new Set(missing);
    return !isSame;
  }

  /** Those of a resource that no replica has. */
  missingOf(resource: TrackedResource): readonly string[] {
    return [...new Set(targetNames(resource))].filter((name) => this.#missing.has(name));
  }
}

/** The targets with a weight, of a resource that may be anything. */
function targetNames({ text: { resource } }: TrackedResource): readonly string[] {
  const spec = isMapping(resource) ? resource["spec"] : undefined;
  return listIn(spec, "rules").flatMap((rule) =>
    listIn(rule, "targets").flatMap((target) => {
      const { modelRewrite, weight } = isMapping(target) ? target : {};
      return typeof modelRewrite === "string" && weight !== 0 ? [modelRewrite] : [];
    }),
  );
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = isMapping(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}

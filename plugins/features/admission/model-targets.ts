import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";

/** The names that requests for a model may be sent with: before a target is drawn, all that its rule may draw. */
export class ModelTargets {
  readonly #config: ActiveConfig;
  readonly #byModel = new Map<string, readonly string[]>();
  /** Of a rule for every model. */
  #otherwise: readonly string[] | undefined;

  constructor(config: ActiveConfig) {
    this.#config = config;
    for (const { models, targets } of config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? [])) {
      const names = targets.filter(({ weight }) => weight > 0).map(({ name }) => name);
      if (models.length === 0) this.#otherwise ??= names;
      // The first rule counts: in front of it, one for every model.
      else if (this.#otherwise === undefined)
        for (const model of models) if (!this.#byModel.has(model)) this.#byModel.set(model, names);
    }
  }

  /** Undefined where the model itself is sent. */
  of(model: string): readonly string[] | undefined {
    return model === "" ? undefined : (this.#byModel.get(model) ?? this.#otherwise);
  }

  /** Whether a replica that lists none of them may be asked to load one. */
  mayBeLoaded(model: string): boolean {
    const { settings, targets } = this.#config;
    if (settings.unlisted !== "targets") return settings.unlisted === "any";
    return this.of(model)?.some((name) => targets.has(name)) ?? targets.has(model);
  }
}

export function serves({ models }: Endpoint, model: string, targets: readonly string[] | undefined): boolean {
  if (targets === undefined) return model === "" || models.has(model);
  for (const name of targets) if (models.has(name)) return true;
  return false;
}

import type { ActiveConfig } from "../core/active-config.ts";
import type { Feature } from "../core/contract/feature.ts";
import type { OptionSchema, z } from "../core/contract/options.ts";
import type { Definition } from "../core/contract/plugin.ts";
import { isSectionModule } from "../core/control/section-instances.ts";
import type { MakeJudge } from "../core/judge.ts";
import type { DecisionReport } from "../core/report/report-schema.ts";
import type { SectionModule } from "../core/router-config.ts";
import type { RouterHost } from "../core/router-host.ts";
import type { Command } from "./command.ts";
import type { Section } from "./section.ts";

/**
 * A feature with a section of the config of its own, beside the list of plugins. All of it is in one folder, and one line of the registry
 * lists it.
 */
export interface SectionFeature extends SectionModule, FeatureFace {
  readonly section: Section<unknown, unknown>;
}

/** What people meet of a feature, beside its section. */
interface FeatureFace {
  /** The schemas of what `status` says of a rule's target. */
  readonly targetShape?: z.ZodRawShape;
  /** What commands print of the documents that it is in. */
  readonly text?: FeatureText;
  /** Commands of the program that it brings. */
  readonly commands?: readonly Command[];
}

/** A feature as its file declares it: its options are what its section says. */
interface Declared<Written, Config> extends FeatureFace {
  readonly type: string;
  readonly summary: string;
  readonly judge?: MakeJudge;
  readonly section: Section<Written, Config>;
  /** Left out where everything that it does is in its section. Its `configured` gets the config whole. */
  readonly create?: (config: Config, host: RouterHost) => Feature<ActiveConfig>;
}

export function sectionFeature<Written, Config>({ section, create, ...declared }: Declared<Written, Config>): SectionFeature {
  return {
    ...declared,
    kind: "feature",
    section: section as unknown as Section<unknown, unknown>,
    options: section.schema as OptionSchema<unknown>,
    // The router makes features with what its section says, and with its own host.
    create: (config, host) => (create?.(config as Config, host as RouterHost) ?? {}) as Feature,
  };
}

/** The features of a registry that have a section, in its order. */
export function sectionFeatures(registry: ReadonlyMap<string, Definition>): readonly SectionFeature[] {
  return [...registry.values()].filter(isSectionModule) as SectionFeature[];
}

/** What is made of the features of a registry that have a section: once for each registry. */
export function perRegistry<Made>(
  make: (features: readonly SectionFeature[]) => Made,
): (registry: ReadonlyMap<string, Definition>) => Made {
  const known = new WeakMap<ReadonlyMap<string, Definition>, Made>();
  return (registry) => {
    const made = known.get(registry) ?? make(sectionFeatures(registry));
    known.set(registry, made);
    return made;
  };
}

/** What commands print of the features of a registry. */
export function featureTexts(registry: ReadonlyMap<string, Definition>): readonly FeatureText[] {
  return sectionFeatures(registry).flatMap(({ text }) => text ?? []);
}

/** What commands print of a feature; each gets a document that may have the feature's part. */
export interface FeatureText {
  /** Lines below the status. */
  router?(status: object): readonly string[];
  /** Lines below the totals of `top`. */
  top?(status: object): readonly string[];
  /** Lines below a rule of the status. */
  rule?(rule: object): readonly string[];
  /** What stands behind a target of the status. */
  mark?(target: object): string;
  /** Lines below a rewrite that is shown alone. */
  target?(target: object): readonly string[];
  /** Rows of an explanation, with their titles. */
  decision?(report: DecisionReport): readonly (readonly [title: string, text: string])[];
}

import { featureTexts, sectionFeatures } from "../../config/feature.ts";
import type { ActiveConfig, Named } from "../../core/active-config.ts";
import type { Feature } from "../../core/contract/feature.ts";
import { makeHost } from "../../core/contract/test-kit.ts";
import { type RouterAccess, withoutRouter } from "../../core/router-host.ts";
import { builtIns } from "../../plugins/registry.ts";

/** The built-in features that have a section. */
export const FEATURES = sectionFeatures(builtIns);

/** What commands print of them. */
export const TEXTS = featureTexts(builtIns);

/** Each of them with what the config says to it, or with what its section says when it is left out. */
export function modulesOf(configs: ActiveConfig["features"], router: Partial<RouterAccess> = {}): readonly Named<Feature>[] {
  const host = makeHost();
  const services = router.services ?? { clock: host.clock, random: host.random, log: host.log };
  const access = { ...host, ...services, ...withoutRouter(services), ...router };
  return FEATURES.map((definition) => {
    const { key, schema } = definition.section;
    const config = configs.has(key) ? configs.get(key) : schema.parse(undefined);
    return { name: key, type: definition.type, plugin: definition.create(config, access) as Feature };
  });
}

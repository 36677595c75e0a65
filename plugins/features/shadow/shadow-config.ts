import { isProfileKind } from "../../../config/plugins/instances.ts";
import { profileRefs, unguarded, type WrittenProfile } from "../../../config/schema/profile.ts";
import { orElse, setting } from "../../../config/schema/section.ts";
import { instanceName } from "../../../config/schema/values.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import type { ProfileConfig } from "../../../core/router-config.ts";
import { percent } from "../../../core/settings/row.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";

const PERCENT = percent(100, "Of the requests, how many it decides too.");

/** A second profile that decides on the same facts. Its references are as they are written. */
export interface ShadowConfig extends ProfileConfig {
  /** Of the requests, how many it decides: above 0, at most 100. */
  readonly percent: number;
}

const shadow = z.strictObject({
  name: orElse(instanceName.describe('Its name in metrics and explanations. Default "shadow".'), "shadow"),
  plugins: profileRefs.describe("As in a profile. It gets instances of its own, with the same parameters."),
  unguarded,
  percent: setting(PERCENT),
});

type Written = (WrittenProfile & { readonly percent: number }) | undefined;
type Shadow = ShadowConfig | undefined;

/** `spec.shadow`. */
export const shadowSection = {
  key: "shadow",
  inPools: "own",
  schema: shadow
    .describe("A second profile that decides on the same facts; only where it differs is shown. Default none.")
    .optional() as z.ZodType<Written>,
  of: (features: FeatureConfigs) => features.get("shadow") as Shadow,
  read(written: Written, around): Shadow {
    if (written === undefined) return undefined;
    refuseShadowAlone(around);
    return { ...around.readProfile(written, ["spec", "shadow"]), percent: written.percent };
  },
  profiles: (config: Shadow) => (config === undefined ? [] : [["shadow", config]]),
  written: (config, isUnguarded) =>
    config && {
      name: config.name,
      plugins: config.plugins,
      ...(isUnguarded("shadow") && { unguarded: true }),
      percent: config.percent,
    },
  summary: (config, rows) =>
    config && [`shadow    ${config.name}, decides ${config.percent}% of the requests too`, rows("shadow")],
  changes: (before: Shadow, after: Shadow) =>
    after === undefined ? ["shadow removed"] : [`shadow ${after.name} ${before === undefined ? "added" : "changed"}`],
} satisfies Section<Written, Shadow> & { readonly of: unknown };

/**
 * Without a profile, the listed plugins are the profile. Where there is a shadow, they may be meant for the shadow alone: then a warning
 * says so.
 */
function refuseShadowAlone({ hasProfile, listed, router }: ConfigAround): void {
  const isUnclear = [...listed.instances.values()].some(({ definition }) => isProfileKind(definition.kind));
  if (hasProfile || !isUnclear) return;
  router.report(
    ["spec", "shadow"],
    { found: "a shadow, and plugins that no profile lists", wanted: "spec.profiles: which plugins decide for the clients" },
    "key",
  );
}

import { z } from "../../core/contract/options.ts";
import { onOff } from "../../core/settings/row.ts";
import { orElse, setting } from "./section.ts";
import { instanceName, profileWeight } from "./values.ts";

/** The plugins of a profile, by their names. */
export const profileRefs = z.array(
  z.strictObject({
    pluginRef: z.string().describe("Name of an entry in `plugins`, or a built-in type to use with its defaults."),
    weight: profileWeight.describe("Weight of a scorer in the mean over all scorers. Default 1.").optional(),
  }),
);

export const unguarded = setting(
  onOff(
    false,
    "Leaves out the filters ready and serves-model unless the profile lists them: requests then go to replicas that are still loading, and with models that no replica has.",
  ),
);

/** One entry of `spec.profiles`. */
export const profileSchema = z.strictObject({
  name: instanceName.describe('Its name in metrics and explanations. Default "default".').optional(),
  plugins: orElse(profileRefs.describe("Filters in the order they run, behind ready and serves-model; scorers; one picker."), []),
  unguarded,
});

/** A profile as a document has it. */
export interface WrittenProfile {
  readonly name?: string | undefined;
  readonly plugins: readonly WrittenRef[];
  readonly unguarded: boolean;
}

export interface WrittenRef {
  readonly pluginRef: string;
  readonly weight?: number | null | undefined;
}

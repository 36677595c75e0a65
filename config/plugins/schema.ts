import { z } from "../../core/contract/options.ts";
import { instanceName, lineOfText } from "../schema/values.ts";

/** One entry of `spec.plugins`. */
export const pluginEntry = z.strictObject({
  type: z.string().describe("A built-in plugin type. Either this or `from`.").optional(),
  from: lineOfText
    .describe("A module with your own plugin: ./file.ts (relative to this file) or a package. Either this or `type`.")
    .optional(),
  name: instanceName.describe("Name of this instance in profiles. Default: its type.").optional(),
  parameters: z.unknown().describe("Options of the plugin.").optional(),
});

export type PluginSpec = z.infer<typeof pluginEntry>;

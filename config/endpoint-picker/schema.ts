import { z } from "../../core/contract/options.ts";
import { PICKER_VERSIONS } from "../read/kinds.ts";
import { instanceName, profileWeight } from "../schema/values.ts";
import { flowControlShape } from "./flow-control-schema.ts";
import { interval, REFUSED_KEYS } from "./types.ts";

// The schema of an EndpointPickerConfig, the reference router's config file. It includes unsupported keys, so that they are
// refused with a reason and not as unknown.

const pluginRef = z.strictObject({ pluginRef: z.string().describe("Name of an entry in `plugins`.") });
const refused = z.unknown().describe("Refused with a sentence that says what to use instead.").optional();
const refusedShape = (keys: Readonly<Record<string, string>>): Readonly<Record<never, z.ZodType>> =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, refused]));

const plugin = z.strictObject({
  type: z.string().describe("One of the reference's plugin types, or one of Signalbox's."),
  name: instanceName.describe("Name of this instance in profiles. Default: its type.").optional(),
  parameters: z.unknown().describe("The reference's parameters of that type.").optional(),
});

const profileRef = z.strictObject({
  pluginRef: z.string().describe("Name of an entry in `plugins`."),
  weight: profileWeight.nullable().describe("Weight of a scorer in the mean over all scorers. Default 1.").optional(),
});

const saturationDetector = z
  .strictObject({ pluginRef: z.string().describe("Name of an entry in `plugins`. Default utilization-detector.").optional() })
  .describe("Keeps traffic away from full replicas while any other is left.");

const flowControl = z.strictObject({
  saturationDetector: saturationDetector.optional(),
  ...flowControlShape,
});

const dataLayer = z.strictObject({
  injectDefaults: z.boolean().describe("Whether replicas' metrics are read when no source is listed. Default true.").optional(),
  sources: z
    .array(
      z.strictObject({
        pluginRef: z.string().describe("Name of a metrics-data-source, models-data-source or dcgm-data-source."),
        interval: interval.describe("How often it is read, such as 1s. Default: the source's own period.").optional(),
        extractors: z.array(pluginRef).describe("Built in; named for completeness.").optional(),
      }),
    )
    .optional(),
  discovery: pluginRef.describe("Name of a file-discovery that lists the endpoints.").optional(),
  ...refusedShape(REFUSED_KEYS.dataLayer),
});

/** A document of kind EndpointPickerConfig. */
export const pickerDocument = z.strictObject({
  apiVersion: z.enum(PICKER_VERSIONS),
  kind: z.literal("EndpointPickerConfig"),
  featureGates: z.array(z.string()).describe('Names, each alone or with "=true" or "=false".').optional(),
  plugins: z.array(plugin).describe("Plugin instances.").optional(),
  schedulingProfiles: z
    .array(z.strictObject({ name: instanceName, plugins: z.array(profileRef) }))
    .describe("How an endpoint is chosen: one profile. Default: the listed plugins, or queue, KV cache and prefix.")
    .optional(),
  dataLayer: dataLayer.optional(),
  flowControl: flowControl.optional(),
  requestHandler: z
    .strictObject({ parsers: z.array(pluginRef).describe("Which APIs are served. Default: all of them.").optional() })
    .optional(),
  saturationDetector: saturationDetector.optional(),
  parser: pluginRef.describe("Like requestHandler.parsers with one entry.").optional(),
});

export type PickerDocument = z.infer<typeof pickerDocument>;

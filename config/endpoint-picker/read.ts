import { defaultParsers, type Registry } from "../plugins/instances.ts";
import type { PluginSource } from "../plugins/read.ts";
import { REFUSED_TYPES } from "../plugins/refused-types.ts";
import type { Problem } from "../read/problems.ts";
import { type ProfileEntry, type ProfileSource, type RefEntry, refsAt } from "../router/profile.ts";
import type { PickerParts } from "../router/read.ts";
import { readCacheEvents } from "./cache-events.ts";
import {
  checkUnsupported,
  type Entry,
  entryNamed,
  type PickerResource,
  readEntries,
  referredTo,
  refuseReference,
} from "./entries.ts";
import { discoverEndpoints } from "./file-discovery.ts";
import { readFlowControl } from "./flow-control.ts";
import { noteOn } from "./notes.ts";
import { type ProfilePlaces, placesOf } from "./pairs.ts";
import { instanceName, specOf } from "./specs.ts";
import {
  CONCURRENCY_DETECTOR,
  DEFAULT_SCORERS,
  DETECTOR_TYPES,
  METRICS_SOURCE,
  OTHER_PATHS,
  PARSER_TYPES,
  PASSTHROUGH_PARSER,
  PATHS_BY_PARSER,
  UTILIZATION_DETECTOR,
} from "./types.ts";

/** Translates the reference's config to ours. What has no meaning here is reported by name. Adds the endpoints' file to `files`. */
export async function readPicker(
  resource: PickerResource,
  registry: Registry,
  problems: Problem[],
  files: Set<string>,
): Promise<PickerParts> {
  const { document, report, wasCut } = resource;
  const entries = readEntries(resource);
  checkUnsupported(entries, resource);
  const parsers = chooseParsers(entries, resource, registry);
  const detector = detectorOf(entries, resource);
  const places = placesOf(entries, resource);
  const profileAt = (index: number | undefined): ProfileSource => ({
    profile: index === undefined ? undefined : profileOf(index, entries, detector, resource),
    report,
    pluginsAt: "plugins",
    scorers: DEFAULT_SCORERS,
    takesListedPicker: true,
  });
  const prefill = places.prefill === undefined ? undefined : profileAt(places.prefill);
  const flow = readFlowControl(entries, detector, resource);
  const events = readCacheEvents(entries, resource);
  const isMetricsWanted = document.dataLayer?.injectDefaults !== false || entries.some(({ type }) => type === METRICS_SOURCE);
  return {
    plugins: [...sourcesOf(entries, detector, places, resource), ...parsers.passthrough, ...(flow ? [flow.queue] : [])],
    features: {
      ...(flow && { admission: flow.admission }),
      ...(prefill && { disaggregation: disaggregationOf(places, prefill) }),
      ...(events.section && { kvEvents: events.section }),
    },
    profile: profileAt(places.main),
    others: new Map(prefill && [["disaggregation.prefill", prefill]]),
    withoutDefaults: new Set([...parsers.left, ...(isMetricsWanted ? [] : ["metrics"])]),
    endpoints: await discoverEndpoints(entries, resource, problems, files),
    notes: [...entries.flatMap(noteOn), ...places.notes, ...events.notes],
    isBroken: wasCut(["plugins"]),
  };
}

/** Name of the saturation detector; undefined if none is named. */
function detectorOf(entries: readonly Entry[], resource: PickerResource): string | undefined {
  const { flowControl, saturationDetector } = resource.document;
  const inFlowControl = flowControl?.saturationDetector;
  const detector = inFlowControl ?? saturationDetector;
  if (detector === undefined) return undefined;
  const name = detector.pluginRef ?? UTILIZATION_DETECTOR;
  if (DETECTOR_TYPES.has(referredTo(name, entries).type)) return name;
  const path = inFlowControl === undefined ? ["saturationDetector"] : ["flowControl", "saturationDetector"];
  refuseReference(name, path, [...DETECTOR_TYPES].join(" or "), entries, resource);
  return undefined;
}

/** The reference's side-cars stand in front of the endpoints that generate, and are told of the prompt's. */
function disaggregationOf({ decider }: ProfilePlaces, { profile }: ProfileSource) {
  const plugins = profile!.refs.map(({ pluginRef, weight }) => ({ pluginRef, ...(weight != null && { weight }) }));
  return { transfer: "side-car", decider, prefill: { name: profile!.name, plugins } };
}

function profileOf(
  index: number,
  entries: readonly Entry[],
  detector: string | undefined,
  resource: PickerResource,
): ProfileEntry {
  const { name, plugins } = resource.document.schedulingProfiles![index]!;
  const refs = refsAt(["schedulingProfiles", index, "plugins"], plugins).filter(({ pluginRef, path }) => {
    const isOfProfile = referredTo(pluginRef, entries).role === undefined;
    if (!isOfProfile) refuseReference(pluginRef, path, "a filter, scorer or picker", entries, resource);
    return isOfProfile;
  });
  const isListed = detector === undefined || refs.some(({ pluginRef }) => pluginRef === detector);
  const inFront = isListed ? [] : [{ pluginRef: detector, path: ["saturationDetector"] }];
  const named = refs.map((ref) => ({ ...ref, pluginRef: instanceName(ref.pluginRef, entries) }));
  return { name, refs: [...inFront, ...named], unguarded: false };
}

/** The entries that become instances, with the reference's type names, and a detector that is referred to without an entry. */
function sourcesOf(
  entries: readonly Entry[],
  detector: string | undefined,
  { prefill }: ProfilePlaces,
  resource: PickerResource,
): readonly PluginSource[] {
  const profiles = resource.document.schedulingProfiles ?? [];
  const inProfile = new Set(profiles.flatMap(({ plugins }) => plugins.map(({ pluginRef }) => pluginRef)));
  const listed = entries.filter(({ role }) => role === undefined);
  const unlisted = detector === undefined || listed.some(({ name }) => name === detector) ? [] : [detector];
  return [
    ...listed.map((entry) => {
      const { name, type, path } = entry;
      const isOnlyDetector = type === CONCURRENCY_DETECTOR && name === detector && !inProfile.has(name);
      const spec = isOnlyDetector
        ? { name, type, parameters: keeping(entry.parameters) }
        : specOf(entry, entries, prefill !== undefined, resource);
      return { spec, path, place: resource };
    }),
    ...unlisted.map((type) => ({
      spec: { type, parameters: type === CONCURRENCY_DETECTOR ? keeping({}) : {} },
      path: ["saturationDetector"],
      place: resource,
    })),
  ];
}

/** The reference's detector only refuses sheddable requests. So when all replicas are full, the filter keeps them all. */
function keeping(parameters: unknown): unknown {
  if (parameters === undefined || parameters === null) return { whenAllFull: "keep" };
  return typeof parameters === "object" ? { whenAllFull: "keep", ...parameters } : parameters;
}

/** The parsers that run. */
interface ChosenParsers {
  /** Default parsers that do not run. */
  readonly left: readonly string[];
  /** The passthrough parser with its routes, if chosen. */
  readonly passthrough: readonly PluginSource[];
}

/** Without a choice, all default parsers run; a choice replaces them, as in the reference. */
function chooseParsers(entries: readonly Entry[], resource: PickerResource, registry: Registry): ChosenParsers {
  const { requestHandler, parser } = resource.document;
  const listed = refsAt(["requestHandler", "parsers"], requestHandler?.parsers ?? []);
  const refs = listed.length === 0 && parser !== undefined ? [{ ...parser, path: ["parser"] }] : listed;
  if (refs.length === 0) return { left: [], passthrough: [] };
  const chosen = refs.filter(({ pluginRef, path }) => {
    const { role, type } = referredTo(pluginRef, entries);
    // A refused type is already reported where it is listed.
    const isRefused = REFUSED_TYPES.has(type) && entryNamed(pluginRef, entries) !== undefined;
    if (role !== "parser" && !isRefused) refuseReference(pluginRef, path, "a parser", entries, resource);
    return role === "parser";
  });
  const types = chosen.map(({ pluginRef }) => referredTo(pluginRef, entries).type);
  const ours = new Set(types.flatMap((type) => PARSER_TYPES[type] ?? []));
  const left = defaultParsers(registry).filter((type) => !ours.has(type));
  const at = types.indexOf(PASSTHROUGH_PARSER);
  return { left, passthrough: at === -1 ? [] : [passthroughOf(chosen[at]!, left, resource)] };
}

function passthroughOf({ pluginRef, path }: RefEntry, unreadParsers: readonly string[], resource: PickerResource): PluginSource {
  const paths = [...unreadParsers.flatMap((type) => PATHS_BY_PARSER[type] ?? []), ...OTHER_PATHS];
  const parameters = { routes: paths.map((each) => ({ method: "POST", path: each })) };
  return { spec: { type: "passthrough", name: pluginRef, parameters }, path, place: resource };
}

import { REFUSED_TYPES } from "../plugins/refused-types.ts";
import { didYouMean, isMapping, type Path, quoted } from "../read/problems.ts";
import type { EntryNote } from "../router/read.ts";
import { type Entry, entryNamed, type PickerResource } from "./entries.ts";
import { ALWAYS_DECIDER, DISAGG_HANDLER, PD_HANDLER, PREFIX_DECIDER, prefixDeciderParameters } from "./pair-jobs.ts";

// Which of the scheduling profiles is for what, and the reference's pairs as `spec.disaggregation`.

/** Where the profiles stand in `schedulingProfiles`. */
export interface ProfilePlaces {
  /** Decides where answers are generated: the router's profile; undefined for a document without profiles. */
  readonly main: number | undefined;
  /** Decides where prompts are processed; undefined if no pairs are made. */
  readonly prefill: number | undefined;
  /** When pairs are made, as `spec.disaggregation` has it. */
  readonly decider: unknown;
  readonly notes: readonly EntryNote[];
}

/** What a profile handler says of pairs. */
interface Handled {
  readonly decode: string;
  readonly prefill: string;
  readonly encode: string;
  /** The name of the decider and where it is written; "": no pairs are made. */
  readonly decider: { readonly name: string; readonly path: Path } | "";
  readonly encodeDecider: string;
}

const ENCODE_HINT = "Media are encoded where their prompt is processed: leave out the encode decider and its profile.";

export function placesOf(entries: readonly Entry[], resource: PickerResource): ProfilePlaces {
  const profiles = resource.document.schedulingProfiles ?? [];
  const handler = entries.find(({ type }) => type === DISAGG_HANDLER || type === PD_HANDLER);
  if (handler !== undefined) return handledPlaces(handler, entries, resource);
  if (profiles.length > 1) {
    const hint = `A ${DISAGG_HANDLER} has two: one for prompts and one for answers.`;
    resource.report(["schedulingProfiles", 1], { found: `${profiles.length} profiles`, wanted: "exactly one", hint });
  }
  return { main: profiles.length === 0 ? undefined : 0, prefill: undefined, decider: undefined, notes: [] };
}

function handledPlaces(handler: Entry, entries: readonly Entry[], resource: PickerResource): ProfilePlaces {
  const { document, report } = resource;
  const profiles = document.schedulingProfiles ?? [];
  const handled = handledBy(handler);
  const at = (name: string) => profiles.findIndex((profile) => profile.name === name);
  const main = at(handled.decode);
  if (main === -1) refuseMissing(handled.decode, handler, resource);
  const decider = handled.decider ? deciderOf(handled.decider.name, handled.decider.path, entries, resource) : undefined;
  const prefill = at(handled.prefill);
  if (handled.decider !== "" && prefill === -1) refuseMissing(handled.prefill, handler, resource);
  if (handled.encodeDecider !== "") {
    const found = `the decider ${quoted(handled.encodeDecider)}, which has no counterpart here`;
    report([...handler.path, "parameters", "deciders", "encode"], { found, hint: ENCODE_HINT });
  }
  for (const [index, { name }] of profiles.entries()) {
    if (name === handled.decode || name === handled.prefill) continue;
    const isEncode = name === handled.encode;
    report(["schedulingProfiles", index, "name"], {
      found: `the profile ${quoted(name)}, which ${isEncode ? "has no counterpart here" : `no ${handler.type} names`}`,
      hint: isEncode ? ENCODE_HINT : () => didYouMean(name, [handled.decode, handled.prefill]),
    });
  }
  const isIdle = handled.decider === "" && prefill !== -1;
  return {
    main: main === -1 ? undefined : main,
    prefill: decider === undefined || prefill === -1 ? undefined : prefill,
    decider,
    notes: isIdle ? [{ name: handled.prefill, effect: "no meaning here", why: "the handler names no prefill decider" }] : [],
  };
}

/** Texts in the parameters, the older names behind today's. What is wrong with them is reported where all entries' parameters are. */
function handledBy({ type, parameters, path }: Entry): Handled {
  const isPdHandler = type === PD_HANDLER;
  const at = (keys: string) => [...path, "parameters", ...keys.split(".")];
  const textAt = (keys: string) => {
    const found = keys.split(".").reduce((node, key) => (isMapping(node) ? node[key] : undefined), parameters);
    return typeof found === "string" ? found : "";
  };
  const decider = textAt("deciders.prefill") || textAt("deciderPluginName") || (isPdHandler ? PREFIX_DECIDER : "");
  return {
    decode: textAt("profiles.decode") || textAt("decodeProfile") || "decode",
    prefill: textAt("profiles.prefill") || textAt("prefillProfile") || "prefill",
    encode: textAt("profiles.encode") || textAt("encodeProfile") || "encode",
    decider: decider && { name: decider, path: at(textAt("deciders.prefill") ? "deciders.prefill" : "deciderPluginName") },
    encodeDecider: textAt("deciders.encode"),
  };
}

function deciderOf(name: string, path: Path, entries: readonly Entry[], { report }: PickerResource): unknown {
  const entry = entryNamed(name, entries);
  if (entry?.type === ALWAYS_DECIDER) return "always";
  if (entry?.type === PREFIX_DECIDER) {
    const { nonCachedTokens = 0 } = prefixDeciderParameters.safeParse(entry.parameters ?? {}).data ?? {};
    return nonCachedTokens === 0 ? "never" : { uncachedTokens: nonCachedTokens };
  }
  // A refused type is already reported where it is listed.
  if (entry !== undefined && REFUSED_TYPES.has(entry.type)) return undefined;
  const names = () => entries.filter(({ role }) => role === "decider").map((each) => each.name);
  report(path, {
    found: quoted(name),
    wanted: `the name of an entry of the type ${PREFIX_DECIDER} or ${ALWAYS_DECIDER}`,
    hint: () => didYouMean(name, names()),
  });
  return undefined;
}

function refuseMissing(name: string, { type }: Entry, { report }: PickerResource): void {
  report(["schedulingProfiles"], { found: `no profile ${quoted(name)}`, wanted: `one of that name, which the ${type} runs` });
}

import type { EntryNote } from "../router/read.ts";
import {
  CACHE_EVENT_JOBS,
  PRECISE_PRODUCER,
  PRECISE_SCORER,
  preciseParameters,
  USUAL_PORT,
  USUAL_TOPIC,
} from "./cache-event-jobs.ts";
import { checkValues, type Entry, type PickerResource } from "./entries.ts";

// The reference's precise prefix caches as `spec.kvEvents`.

const isPrecise = ({ type }: Entry) => type === PRECISE_PRODUCER || type === PRECISE_SCORER;

interface CacheEvents {
  /** `spec.kvEvents`, as a document would have it; undefined where the file follows no events. */
  readonly section: Readonly<Record<string, unknown>> | undefined;
  readonly notes: readonly EntryNote[];
}

/** What the entries say of engines' events. */
export function readCacheEvents(entries: readonly Entry[], resource: PickerResource): CacheEvents {
  const [first, second] = entries.filter(isPrecise);
  if (first === undefined) return { section: undefined, notes: [] };
  if (second !== undefined)
    resource.report(second.path, { found: "a second entry that follows engines' events", wanted: "one of them, or none" });
  // Those of the producer are checked where the parameters of all entries without a plugin are.
  if (first.type === PRECISE_SCORER) checkValues(first, preciseParameters, resource);
  const { kvEventsConfig } = preciseParameters.safeParse(first.parameters ?? {}).data ?? {};
  const { zmqEndpoint = "", topicFilter = USUAL_TOPIC, discoverPods = true, podDiscoveryConfig } = kvEventsConfig ?? {};
  const listens = Number(/:(\d+)$/.exec(zmqEndpoint)?.[1] ?? USUAL_PORT);
  const at = discoverPods ? (podDiscoveryConfig?.socketPort ?? USUAL_PORT) : listens;
  const section = { port: at, topic: topicFilter };
  return { section, notes: [...wrapperNotes(first), ...listeningNotes(first, zmqEndpoint, at)] };
}

/** The older entry is a scorer as well, which is a plugin here: what is said of the producer is said of it. */
function wrapperNotes({ name, type }: Entry): readonly EntryNote[] {
  if (type !== PRECISE_SCORER) return [];
  const { effect, why } = CACHE_EVENT_JOBS[PRECISE_PRODUCER]!;
  return [{ name, effect, why: `as prefix-cache, and ${why}` }];
}

/** The reference may also listen, for engines that connect to it. */
function listeningNotes({ name }: Entry, zmqEndpoint: string, at: number): readonly EntryNote[] {
  if (zmqEndpoint === "") return [];
  const why = `nothing listens at ${zmqEndpoint}: the router connects to port ${at} of each replica, whose engine publishes at tcp://*:${at}`;
  return [{ name, effect: "changed", why }];
}

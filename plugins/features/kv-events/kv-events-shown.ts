import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { counted, whole } from "../../../core/report/number-text.ts";
import type { KvEvents } from "./kv-events.ts";
import { type KvEventsStatus, type Standing, standingOf, whyOf } from "./kv-events-status.ts";
import type { ReplicaCache } from "./replica-cache.ts";

/** What is shown of it. */
export interface ShownEvents extends Pick<KvEvents, "settings" | "hasIndex"> {
  readonly caches: Pick<KvEvents["caches"], "all">;
  readonly rendering: Pick<KvEvents["rendering"], "counts">;
}

const STANDINGS: readonly Standing[] = ["believed", "partly-known", "not-believed", "not-followed"];

export function kvEventsMetrics({ settings, caches, rendering }: ShownEvents): readonly MetricFamily[] {
  if (settings === undefined) return [];
  const all = caches.all();
  const { learned, failed, dropped } = rendering.counts;
  return [
    {
      name: "kv_events_standing",
      type: "gauge",
      help: "Whether decisions follow what the endpoint publishes of its cache: 1 for the state that it is in.",
      labels: ["endpoint", "state"],
      samples: all.flatMap((cache) =>
        STANDINGS.map((state) => ({ values: [cache.endpoint.name, state], value: standingOf(cache) === state ? 1 : 0 })),
      ),
    },
    {
      name: "kv_events_blocks",
      type: "gauge",
      help: "Blocks that the endpoint's cache holds, by what it publishes.",
      labels: ["endpoint"],
      samples: all.map(({ endpoint, publishers }) => ({
        values: [endpoint.name],
        value: publishers.reduce((sum, { blocks }) => sum + blocks.size, 0),
      })),
    },
    {
      name: "kv_events_batches_total",
      type: "counter",
      help: "Batches of cache events that came from the endpoint.",
      labels: ["endpoint"],
      samples: all.map(({ endpoint, publishers }) => ({
        values: [endpoint.name],
        value: publishers.reduce((sum, { batches }) => sum + batches, 0),
      })),
    },
    {
      name: "kv_events_promises_total",
      type: "counter",
      help: "What the endpoint's events promised of a prompt, by what its response reported.",
      labels: ["endpoint", "result"],
      samples: all.flatMap(({ endpoint, voice }) => [
        { values: [endpoint.name, "right"], value: voice.right },
        { values: [endpoint.name, "evicted"], value: voice.evicted },
        ...Object.entries(voice.wrong).map(([result, value]) => ({ values: [endpoint.name, result.replace("-", "_")], value })),
      ]),
    },
    {
      name: "kv_events_prompts_total",
      type: "counter",
      help: "Prompts whose tokens were looked for, by whether they are known now; dropped ones were too many at once.",
      labels: ["result"],
      samples: [
        { values: ["learned"], value: learned },
        { values: ["failed"], value: failed },
        { values: ["dropped"], value: dropped },
      ],
    },
  ];
}

/** So many prompts that nobody could render, and none that was, are no accident. */
const LEAST_FAILED = 5;

/** Replicas whose events are not followed, not believed or not understood, and what keeps all of them from counting. */
export function kvEventsWarnings({ settings, caches, rendering, hasIndex }: ShownEvents): readonly string[] {
  if (settings === undefined) return [];
  const { learned, failed } = rendering.counts;
  return [
    ...(hasIndex ? [] : [NO_INDEX]),
    ...(learned === 0 && failed >= LEAST_FAILED ? [NONE_RENDERED] : []),
    ...caches
      .all()
      .filter((cache) => cache.endpoint.isAvailable && isOut(cache))
      .map((cache) => `The cache events of ${cache.endpoint.name} do not count: ${whyOf(cache)}.`),
  ];
}

const NO_INDEX =
  "spec.kvEvents changes nothing: no plugin of the profile reads prompts. Use outstanding-work, prefix-cache or another that does.";
const NONE_RENDERED =
  "spec.kvEvents changes nothing: no replica says which tokens prompts are (POST .../render), so no event is known to be about one. vLLM 0.32 and newer do.";

function isOut(cache: ReplicaCache): boolean {
  const standing = standingOf(cache);
  if (standing !== "partly-known") return standing !== "believed";
  return cache.publishers.some(({ blocks }) => blocks.unknown === "unreadable" && !blocks.isWhole);
}

/** What events said of a request, and whether it was true. */
export function kvEventsNotes({ promises }: KvEvents, outcome: Outcome): readonly string[] {
  const kept = promises.of(outcome);
  if (kept === undefined) return [];
  const { endpoint, promisedTokens, reportedTokens, hasCounted } = kept;
  const followed = hasCounted ? "" : "; the decision did not follow them";
  return [
    `By its cache events ${endpoint} held ${whole(promisedTokens)} tokens of the prompt; it reports ${whole(reportedTokens)} cached${followed}.`,
  ];
}

/** Lines of the status; nothing where nobody follows events. */
export function kvEventsLines({ kvEvents = null }: { readonly kvEvents?: KvEventsStatus | null }): readonly string[] {
  if (kvEvents === null) return [];
  return [
    `cache events: ${counted(kvEvents.knownPrompts, "prompt known by its", "prompts known by their")} tokens`,
    ...kvEvents.replicas.map(
      ({ endpoint, standing, blocks, tokens, why }) =>
        `  ${endpoint}: ${standing}, ${counted(blocks, "block")} (${counted(tokens, "token")})${why === "" ? "" : `; ${why}`}`,
    ),
  ];
}

import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { counted, whole } from "../../../core/report/number-text.ts";
import type { KvEvents } from "./kv-events.ts";
import { type KvEventsStatus, type Standing, standingOf, whyOf } from "./kv-events-status.ts";

/** What is shown of it. */
export interface ShownEvents extends Pick<KvEvents, "settings"> {
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

/** Replicas whose events are not followed, or not believed. */
export function kvEventsWarnings({ settings, caches }: ShownEvents): readonly string[] {
  if (settings === undefined) return [];
  return caches
    .all()
    .filter((cache) => ["not-believed", "not-followed"].includes(standingOf(cache)) && cache.endpoint.isAvailable)
    .map((cache) => `The cache events of ${cache.endpoint.name} do not count: ${whyOf(cache)}.`);
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

import type { KvEvents } from "./kv-events.ts";
import type { ReplicaCache } from "./replica-cache.ts";

export type KvEventsStatus = Readonly<NonNullable<ReturnType<typeof kvEventsStatus>>>;

/** How a replica's events stand: whether decisions follow them, and why not. */
export type Standing = "believed" | "partly-known" | "not-believed" | "not-followed";

/** What replicas publish of their caches, as JSON; null where nobody follows it. */
export function kvEventsStatus({ settings, caches, known, rendering }: KvEvents) {
  if (settings === undefined) return null;
  return {
    believe: settings.believe,
    knownPrompts: known.size,
    prompts: { ...rendering.counts },
    blocksLeft: caches.budget.left,
    replicas: caches
      .all()
      .map(rowOf)
      .sort((one, other) => (one.endpoint < other.endpoint ? -1 : 1)),
  };
}

function rowOf(cache: ReplicaCache) {
  const { endpoint, publishers, voice } = cache;
  const sum = (of: (publisher: (typeof publishers)[number]) => number) => publishers.reduce((total, one) => total + of(one), 0);
  return {
    endpoint: endpoint.name,
    standing: standingOf(cache),
    why: whyOf(cache),
    engines: publishers.length,
    blocks: sum(({ blocks }) => blocks.size),
    tokens: sum(({ blocks }) => blocks.size * blocks.blockTokens),
    batches: sum(({ batches }) => batches),
    gaps: sum(({ gaps }) => gaps),
    restarts: sum(({ restarts }) => restarts),
    malformed: sum(({ malformed }) => malformed),
    promises: {
      right: voice.right,
      tooMuch: voice.wrong["too-much"],
      tooLittle: voice.wrong["too-little"],
      silent: voice.wrong.silent,
    },
    losses: voice.losses,
  };
}

export function standingOf(cache: ReplicaCache): Standing {
  if (!cache.isFollowed) return "not-followed";
  if (cache.voice.isLost) return "not-believed";
  return cache.isWhole ? "believed" : "partly-known";
}

const WRONGS = {
  "too-much": "responses report less than it promised",
  "too-little": "responses report more than it told of",
  silent: "it tells nothing of what it stores",
} as const;

/** In a sentence without its subject, the replica; "" if there is nothing to say. */
export function whyOf(cache: ReplicaCache): string {
  const { lack, publishers, voice } = cache;
  if (lack !== "") return lack;
  const trouble = publishers.find((one) => one.state !== "following" || one.trouble !== "")?.trouble ?? "";
  if (!cache.isFollowed) return trouble || "it is asked where its events are";
  if (voice.isLost) return WRONGS[voice.lastWrong!];
  if (cache.isWhole) return "";
  return trouble || "it had stored blocks before its events were followed: with a replay endpoint all of them would be known";
}

import type { Unknown } from "./cache/engine-blocks.ts";
import type { KvEvents } from "./kv-events.ts";
import type { Publisher } from "./publisher.ts";
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
      evicted: voice.evicted,
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

/** What the router knows too little for, by whether it could have asked. */
const UNKNOWN: Readonly<Record<Unknown, readonly [asked: string, unasked: string]>> = {
  before: [
    "its replay did not go back to its first batch: raise buffer_steps in its --kv-events-config",
    "it had stored blocks before its events were followed: with a replay endpoint all of them would be known",
  ],
  missed: [
    "its replay did not bring all batches that were missed: raise buffer_steps in its --kv-events-config",
    "some of its batches were missed: with a replay endpoint they would be asked for",
  ],
  unreadable: ["a batch of its events can't be read, and may have been about any block", ""],
  resized: ["its blocks have another size than before, although it did not restart", ""],
};

/** In a sentence without its subject, the replica; "" if there is nothing to say. */
export function whyOf(cache: ReplicaCache): string {
  const { lack, publishers, voice } = cache;
  if (lack !== "") return lack;
  const trouble = publishers.find((one) => one.state !== "following" || one.trouble !== "")?.trouble ?? "";
  if (!cache.isFollowed) return trouble || "it is asked where its events are";
  if (voice.isLost) return WRONGS[voice.lastWrong!];
  if (cache.isWhole) return "";
  return trouble || publishers.map(unknownIn).find((why) => why !== "") || "";
}

function unknownIn({ address, blocks }: Publisher): string {
  if (blocks.isCut) return "its cache has more blocks than are kept: raise maxBlocks in spec.kvEvents";
  if (blocks.isWhole) return "";
  const [asked, unasked] = UNKNOWN[blocks.unknown];
  return address.replayUrl === undefined ? unasked || asked : asked;
}

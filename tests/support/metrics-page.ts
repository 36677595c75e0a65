import { wellFamily } from "../../apps/admin/health.ts";
import { clusterMetrics } from "../../apps/kubernetes/resources/cluster-view.ts";
import { POOL_KINDS } from "../../apps/kubernetes/resources/kinds.ts";
import { trackedResource } from "../../apps/kubernetes/resources/tracked-resource.ts";
import type { Verdict } from "../../apps/kubernetes/resources/verdicts.ts";
import type { ActiveConfig } from "../../core/active-config.ts";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { withoutRouter } from "../../core/router-host.ts";
import type { Run } from "../../core/run.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../core/test-kit/records.ts";
import { admissionMetrics } from "../../plugins/features/admission/admission-metrics.ts";
import { WaitingLine } from "../../plugins/features/admission/waiting-line.ts";
import { keyMetrics } from "../../plugins/features/auth/key-metrics.ts";
import { Conversations } from "../../plugins/features/conversations/conversations.ts";
import { conversationsSection } from "../../plugins/features/conversations/conversations-config.ts";
import { conversationMetrics } from "../../plugins/features/conversations/conversations-shown.ts";
import { pairsMetrics } from "../../plugins/features/disaggregation/pairs-metrics.ts";
import { PairsTally } from "../../plugins/features/disaggregation/pairs-tally.ts";
import { ejectionMetrics } from "../../plugins/features/ejection/ejection-metrics.ts";
import { kvEventsSection } from "../../plugins/features/kv-events/kv-events-config.ts";
import { kvEventsMetrics, type ShownEvents } from "../../plugins/features/kv-events/kv-events-shown.ts";
import { ReplicaCache } from "../../plugins/features/kv-events/replica-cache.ts";
import { mirrorMetrics } from "../../plugins/features/mirror/mirror-metrics.ts";
import { MirrorTally } from "../../plugins/features/mirror/mirror-tally.ts";
import { PoolTally } from "../../plugins/features/pools/pool-tally.ts";
import { Quarantine } from "../../plugins/features/quarantine/quarantine.ts";
import { quarantineMetrics } from "../../plugins/features/quarantine/quarantine-shown.ts";
import { rolloutMetrics } from "../../plugins/features/rollouts/rollout-metrics.ts";
import { Scale } from "../../plugins/features/scale/scale.ts";
import { scaleSection } from "../../plugins/features/scale/scale-config.ts";
import { scaleMetrics } from "../../plugins/features/scale/scale-shown.ts";
import { GatedLine } from "../../plugins/features/sessions/gate/gated-line.ts";
import { Sessions } from "../../plugins/features/sessions/sessions.ts";
import { sessionsSection } from "../../plugins/features/sessions/sessions-config.ts";
import { sessionMetrics } from "../../plugins/features/sessions/sessions-metrics.ts";
import { shadowMetrics } from "../../plugins/features/shadow/shadow-metrics.ts";
import { ShadowTally } from "../../plugins/features/shadow/shadow-tally.ts";
import { sharedMetrics } from "../../plugins/features/shared/shared-metrics.ts";
import { Stored } from "../../plugins/features/stored/stored.ts";
import { storedMetrics } from "../../plugins/features/stored/stored-shown.ts";
import { Tunnels } from "../../plugins/features/websockets/tunnels.ts";
import requestMetrics from "../../plugins/observers/request-metrics.ts";
import { makeEndpoints, makeLoad, makeRequest } from "./endpoints.ts";
import { createPlugin, makeHost } from "./plugins.ts";
import { FIGURES, GUARD } from "./rollout-samples.ts";
import { makeMapping, makeView } from "./view.ts";

/** One family of a page in the Prometheus text format. */
export interface MetricFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Names of the labels of its first sample, `le` left out. */
  readonly labels: readonly string[];
  /** Lines of its samples. */
  readonly samples: readonly string[];
}

/** Reads a page. Throws if a family has samples before its head, or two heads. */
export function readFamilies(page: string): readonly MetricFamily[] {
  const families = new Map<string, { type: string; help: string; samples: string[] }>();
  for (const line of page.split("\n").slice(0, -1)) {
    const [, name = "", help = ""] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    if (name !== "" && families.has(name)) throw new Error(`${name} has two heads`);
    if (name !== "") families.set(name, { type: "", help, samples: [] });
    const latest = [...families.keys()].at(-1) ?? "";
    const family = families.get(latest);
    if (family === undefined) throw new Error(`A sample without a head: ${line}`);
    const type = /^# TYPE \S+ (\w+)$/.exec(line)?.[1];
    if (type !== undefined) family.type = type;
    if (line.startsWith("#")) continue;
    const sample = /^[^{ ]+/.exec(line)?.[0].replace(family.type === "histogram" ? /_(bucket|sum|count)$/ : /$^/, "");
    if (sample !== latest) throw new Error(`A sample in the family ${latest}: ${line}`);
    family.samples.push(line);
  }
  return [...families].map(([name, { type, help, samples }]) => ({
    name,
    type,
    help,
    labels: labelsOf(samples[0] ?? ""),
    samples,
  }));
}

function labelsOf(sample: string): readonly string[] {
  return [...sample.matchAll(/[{,](\w+)="/g)].map(([, label = ""]) => label).filter((label) => label !== "le");
}

const SHARED_VIEW = {
  ...{ store: "redis://store:6379", isUp: true, fault: "", router: "one", routers: [], delayMs: 2 },
  messages: { sent: 1, heard: 1, lost: 0, dropped: 0 },
  refused: { "too long": 0, "without the common secret": 0, unreadable: 0, "of another time": 0 },
  facts: { read: 1, unknown: 0, wrong: 0 },
  ...{ apart: [], hasMoreApart: false },
};

/** A clock whose timers run once, at once. */
const AT_ONCE: Clock = {
  ...systemClock,
  every(_ms, run) {
    run();
    return () => {};
  },
};

/** A mirror that has done all that it can do. */
function usedMirror(): MirrorTally {
  const mirror = new MirrorTally("food/0", "v2", { percent: 100, maxInFlight: 2, timeoutMs: 1_000 });
  mirror.begin();
  mirror.end("complete", 200);
  mirror.skip("memory");
  mirror.compare(120, 80);
  return mirror;
}

/** A pair that has failed. */
function usedPairs(): PairsTally {
  const tally = new PairsTally();
  tally.failed = 1;
  tally.causes.set("timeout", 1);
  return tally;
}

function usedConversations(): Conversations {
  const conversations = new Conversations(systemClock);
  conversations.use(conversationsSection.schema.parse({}));
  return conversations;
}

function usedPools(): PoolTally {
  const tally = new PoolTally();
  tally.fellBack("llama", "small", "queue_full");
  return tally;
}

function usedSessions(): Sessions {
  const sessions = new Sessions(systemClock);
  sessions.use(sessionsSection.schema.parse({}));
  sessions.turns.set("session-id", 1);
  return sessions;
}

function usedScale(): Scale {
  const scale = new Scale(withoutRouter({ clock: AT_ONCE, random: Math.random, log: silentLog }));
  const rewriters = [{ plugin: { mappings: [{ models: ["base"], targets: [] }] } }];
  const config = { pool: "llama", features: new Map(), rewriters, settings: { unlisted: "any" } } as unknown as ActiveConfig;
  scale.use(config, scaleSection.schema.parse({}));
  scale.arrived({ ticket: makeOutcome({}), parsed: { model: "base" } } as unknown as Run);
  return scale;
}

function usedEvents(): ShownEvents {
  return {
    settings: kvEventsSection.schema.parse({}),
    caches: { all: () => [new ReplicaCache(makeEndpoints(1)[0]!, () => undefined)] },
    rendering: { counts: { learned: 1, failed: 0, dropped: 0 } },
    hasIndex: true,
  };
}

/** A line of which somebody has gone on. */
function usedLine(): WaitingLine {
  const line = new WaitingLine(withoutRouter({ clock: systemClock, random: Math.random, log: silentLog }));
  line.isOn = true;
  line.tally.ended(0, "admitted", 20);
  return line;
}

const USED_REWRITE: Verdict = {
  resource: trackedResource(POOL_KINDS[0]!, "llm", { metadata: { name: "food" } }),
  state: "used",
  notes: [],
  isOlderUsed: false,
};
const KEY_COUNTS = { name: "a", tenant: "t", inFlight: 1, requests: 3, refused: 1, reportedTokens: 20, estimatedTokens: 5 };

/** A page on which every family has a sample. */
export function fullPage(): string {
  const metrics = createPlugin(requestMetrics, { genAi: true }, makeHost({ clock: AT_ONCE }));
  const usage = { promptTokens: 110, outputTokens: 4, cachedTokens: 80 };
  metrics.finished(
    makeOutcome({
      request: makeRequest({ isStream: true }),
      decision: makeDecision({ rule: "food/0" }),
      usage,
      predictedTokens: 64,
      outputTokens: 4,
      isOutputEstimated: true,
      finishReason: "stop",
    }),
  );
  metrics.finished(
    makeOutcome({
      status: 502,
      error: { code: "upstream_unreachable", message: "Why." },
      attempts: [makeAttempt("e0", "connect-failed"), makeAttempt("e1", "connect-failed")],
    }),
  );
  const endpoints = makeEndpoints(2);
  const load = makeLoad(2, { waiting: [1, 2], running: [1, 2], kvUsage: [0.1, 0.2] });
  const view: RouterView = makeView(endpoints, {
    config: { mappings: [makeMapping("food/0", { base: 1 })] },
    pool: {
      ...{ load, prefixIndex: { entries: 1, maxEntries: 10, bytes: 100 } },
      discoveryTroubles: new Map([["cluster", { text: "It is down.", sinceMs: 0 }]]),
    },
    plugins: {
      faults: new Map([["queue", 1]]),
      times: [{ kind: "scorer", name: "queue", timedRequests: 3, timedMs: 2, isSlow: false, hasNoVote: false }],
    },
    process: {
      usage: () => ({ cpuSeconds: 1, residentBytes: 2, heapUsedBytes: 3, heapBytes: 4, openFiles: 5, maxOpenFiles: 6 }),
    },
    tls: {
      certificates: [{ port: "listen", file: "a.crt", names: ["a"], expiresAtS: 2, renewAtS: 1, fault: "" }],
      failures: [{ port: "listen", reason: "left", count: 1 }],
    },
    families: () => [
      wellFamily(true),
      ...conversationMetrics(usedConversations()),
      ...keyMetrics([KEY_COUNTS]),
      ...storedMetrics(new Stored(systemClock)),
      ...scaleMetrics(usedScale()),
      ...sessionMetrics(
        usedSessions(),
        new GatedLine(withoutRouter({ clock: systemClock, random: Math.random, log: silentLog })),
      ),
      ...admissionMetrics(usedLine()),
      ...quarantineMetrics(new Quarantine({ clock: systemClock, log: silentLog, inFlight: () => 0 })),
      ...shadowMetrics(new ShadowTally("candidate", 100)),
      ...mirrorMetrics([usedMirror()]),
      ...pairsMetrics(usedPairs()),
      ...ejectionMetrics(view),
      ...clusterMetrics({ verdicts: [USED_REWRITE], keptNames: [], staleSinceMs: undefined, isWriter: true }),
      ...rolloutMetrics(() => ({ figures: FIGURES, guard: GUARD }), view.config.mappings),
      ...kvEventsMetrics(usedEvents()),
      ...sharedMetrics(SHARED_VIEW),
      ...usedPools().metrics(["llama"]),
      ...new Tunnels(systemClock).metrics(),
    ],
  });
  const text = metrics.pages?.[0]?.render(view, new URLSearchParams()) ?? "";
  metrics.dispose?.();
  return text;
}

/** The rows of the catalogue's table. */
export function catalogueRows(): readonly string[] {
  return readFamilies(fullPage()).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ") || "-"} | ${help} |`,
  );
}

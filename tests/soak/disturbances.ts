import type { FaultChanges } from "../../core/mock/faults.ts";
import { MODEL } from "./config.ts";
import { ReplicaPlace } from "./replica-place.ts";

/** Something that is done to a replica, and what undoes it. */
interface Disturbance {
  readonly name: string;
  begin(place: ReplicaPlace): Promise<void>;
  end(place: ReplicaPlace): Promise<void>;
}

const restart = (place: ReplicaPlace) => place.restart(MODEL);

const DISTURBANCES: readonly Disturbance[] = [
  { name: "killed", begin: (place) => place.kill(), end: restart },
  { name: "restarted with another model", begin: (place) => place.restart("other"), end: restart },
  // What a wedged replica was given stays unanswered, so it is restarted in the end.
  { ...fault("wedged", { hang: true }), end: restart },
  fault("slowed", { slowMs: 1_000 }),
  fault("resetting", { reset: true }),
  fault("failing", { status: 500 }),
  fault("overloaded", { status: 503 }),
  fault("breaking streams", { resetAfterEvents: 3 }),
  fault("dying inside events", { dieInsideEvent: 2 }),
  fault("not speaking HTTP", { malformedHead: true }),
];

function fault(name: string, faults: FaultChanges): Disturbance {
  return {
    name,
    begin: ({ replica }) => replica.faults.apply(faults),
    end: ({ replica }) => replica.faults.clear(),
  };
}

const REPLICAS = 5;
/** The others stay well, so that each request could have been served. */
const MOST_DISTURBED = 2;
const EVERY_MS = 2_500;
const LASTS_MS = 4_000;
/** What was under way when a disturbance ended may still fail. */
const AFTERWARDS_MS = 3_000;
/** This process runs clients and replicas. When it gets no processor for that long, all replicas count as disturbed. */
const STALL_MS = 1_000;
const LOOK_MS = 100;

/** Replicas to which something happens every few seconds. */
export interface DisturbedPool {
  readonly urls: readonly string[];
  /** Disturbances so far, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** How often this process stood still. */
  readonly stalls: number;
  /** Whether the replica on that port was disturbed at any moment from `fromMs` to `toMs`, in milliseconds since 1970. */
  wasDisturbed(port: number, fromMs: number, toMs: number): boolean;
  /** Begins the disturbances. */
  begin(): void;
  /** Ends the disturbances and undoes what is left of them. */
  calm(): Promise<void>;
  close(): Promise<void>;
}

export async function startDisturbedPool(random: () => number): Promise<DisturbedPool> {
  const places: ReplicaPlace[] = [];
  while (places.length < REPLICAS) places.push(await ReplicaPlace.open(MODEL));
  const history: { readonly isAt: (port: number) => boolean; readonly fromMs: number; toMs: number }[] = [];
  const counts = new Map<string, number>();
  const disturbed = new Map<ReplicaPlace, Promise<void>>();
  let begun = 0;
  let stalls = 0;
  const isCalm = new AbortController();

  const disturb = async (place: ReplicaPlace, { name, begin, end }: Disturbance) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const entry = { isAt: (port: number) => port === place.port, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    history.push(entry);
    await begin(place);
    await pause(LASTS_MS, isCalm.signal);
    await end(place);
    entry.toMs = Date.now();
    disturbed.delete(place);
  };
  const disturbOne = () => {
    const well = places.filter((place) => !disturbed.has(place));
    const place = well[Math.floor(random() * well.length)];
    if (place === undefined || disturbed.size >= MOST_DISTURBED) return;
    disturbed.set(place, disturb(place, DISTURBANCES[begun % DISTURBANCES.length]!));
    begun += 1;
  };

  let timers: ReturnType<typeof setInterval>[] = [];
  let lookedAtMs = Date.now();
  const look = () => {
    const nowMs = Date.now();
    if (nowMs - lookedAtMs > STALL_MS) {
      stalls += 1;
      history.push({ isAt: () => true, fromMs: lookedAtMs, toMs: nowMs });
    }
    lookedAtMs = nowMs;
  };
  return {
    urls: places.map(({ replica }) => replica.url),
    counts,
    get stalls() {
      return stalls;
    },
    wasDisturbed: (port, fromMs, toMs) =>
      history.some((each) => each.isAt(port) && each.fromMs <= toMs && fromMs <= each.toMs + AFTERWARDS_MS),
    begin() {
      lookedAtMs = Date.now();
      timers = [setInterval(disturbOne, EVERY_MS), setInterval(look, LOOK_MS)];
    },
    async calm() {
      for (const timer of timers) clearInterval(timer);
      isCalm.abort();
      await Promise.all(disturbed.values());
    },
    async close() {
      await Promise.all(places.map((place) => place.kill()));
    },
  };
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

import { setTimeout } from "node:timers/promises";
import type { FaultChanges } from "../../apps/lab/mock/faults.ts";
import { MODEL } from "./config.ts";
import { ReplicaPlace } from "./replica-place.ts";
import { Starvation } from "./starvation.ts";

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

/** Replicas to which something happens every few seconds. */
export interface DisturbedPool {
  readonly urls: readonly string[];
  /** Disturbances so far, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** For how long this process had too little of the processor. */
  readonly starvedMs: number;
  /** Whether the replica on that port was disturbed or starved at any moment from `fromMs` to `toMs`, in milliseconds since 1970. */
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
  const history: { readonly port: number; readonly fromMs: number; toMs: number }[] = [];
  const counts = new Map<string, number>();
  const disturbed = new Map<ReplicaPlace, Promise<void>>();
  let begun = 0;
  const starvation = new Starvation();
  const isCalm = new AbortController();

  const disturb = async (place: ReplicaPlace, { name, begin, end }: Disturbance) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const entry = { port: place.port, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    history.push(entry);
    await begin(place);
    // Rejects when all is to be calm; then it ends at once.
    await setTimeout(LASTS_MS, undefined, { signal: isCalm.signal }).catch(() => {});
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

  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    urls: places.map(({ replica }) => replica.url),
    counts,
    get starvedMs() {
      return starvation.totalMs;
    },
    wasDisturbed: (port, fromMs, toMs) =>
      starvation.wasDuring(fromMs, toMs) ||
      history.some((each) => each.port === port && each.fromMs <= toMs && fromMs <= each.toMs + AFTERWARDS_MS),
    begin() {
      starvation.begin();
      timer = setInterval(disturbOne, EVERY_MS);
    },
    async calm() {
      clearInterval(timer);
      starvation.end();
      isCalm.abort();
      await Promise.all(disturbed.values());
    },
    async close() {
      await Promise.all(places.map((place) => place.kill()));
    },
  };
}

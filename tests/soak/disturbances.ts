import type { FaultChanges } from "../../core/mock/faults.ts";
import { type MockReplica, startMockReplica } from "../../core/mock/replica.ts";

/**
 * What is done to a replica, and what undoes it. A refused connection is a killed process that is restarted by itself. What a wedged
 * replica was given stays unanswered, so it is restarted in the end.
 */
const FAULTS: readonly (readonly [name: string, faults: FaultChanges, undo: FaultChanges | "restart"])[] = [
  ["killed", { refuse: 2_000 }, {}],
  ["wedged", { hang: true }, "restart"],
  ["slowed", { slowMs: 1_000 }, { slowMs: false }],
  ["resetting", { reset: true }, { reset: false }],
  ["failing", { status: 500 }, { status: false }],
  ["overloaded", { status: 503 }, { status: false }],
  ["breaking streams", { resetAfterEvents: 3 }, { resetAfterEvents: false }],
  ["dying inside events", { dieInsideEvent: 2 }, { dieInsideEvent: false }],
  ["not speaking HTTP", { malformedHead: true }, { malformedHead: false }],
];

const REPLICAS = 5;
/** The others stay well, so that each request could have been served. */
const MOST_DISTURBED = 2;
const EVERY_MS = 2_500;
const LASTS_MS = 4_000;
/** What was under way when a fault ended may still fail. */
const AFTERWARDS_MS = 3_000;

/** Replicas to which something happens every few seconds. */
export interface DisturbedPool {
  readonly urls: readonly string[];
  /** Faults so far, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether the replica on that port was disturbed at any moment from `fromMs` to `toMs`, in milliseconds since 1970. */
  wasDisturbed(port: number, fromMs: number, toMs: number): boolean;
  /** Ends the disturbances and undoes what is left of them. */
  calm(): Promise<void>;
  close(): Promise<void>;
}

export async function startDisturbedPool(random: () => number): Promise<DisturbedPool> {
  const start = (port = 0) => startMockReplica({ model: "m", isEcho: true, timeScale: 0.2, port });
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start()));
  const history: { readonly port: number; readonly fromMs: number; toMs: number }[] = [];
  const counts = new Map<string, number>();
  const disturbed = new Set<number>();
  const undos = new Set<() => Promise<void>>();

  const restart = async (replica: MockReplica) => {
    await replica.close();
    replicas[replicas.indexOf(replica)] = await start(replica.port);
  };
  const disturb = async () => {
    const well = replicas.filter(({ port }) => !disturbed.has(port));
    const replica = well[Math.floor(random() * well.length)];
    const [name, faults, undo] = FAULTS[Math.floor(random() * FAULTS.length)]!;
    if (replica === undefined || disturbed.size >= MOST_DISTURBED) return;
    disturbed.add(replica.port);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const entry = { port: replica.port, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    history.push(entry);
    await replica.faults.apply(faults);
    const end = async () => {
      clearTimeout(timer);
      undos.delete(end);
      if (undo === "restart") await restart(replica);
      else await replica.faults.apply(undo);
      disturbed.delete(replica.port);
      entry.toMs = Date.now();
    };
    const timer = setTimeout(() => void end(), LASTS_MS);
    undos.add(end);
  };
  const timer = setInterval(() => void disturb(), EVERY_MS);
  return {
    urls: replicas.map(({ url }) => url),
    counts,
    wasDisturbed: (port, fromMs, toMs) =>
      history.some((each) => each.port === port && each.fromMs <= toMs && fromMs <= each.toMs + AFTERWARDS_MS),
    async calm() {
      clearInterval(timer);
      for (const undo of [...undos]) await undo();
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

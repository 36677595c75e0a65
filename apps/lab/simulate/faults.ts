/** When something goes wrong. */
export interface FaultSpan {
  /** In seconds of the trace. */
  readonly fromS: number;
  /** Undefined: to the end of the run; a restart takes its start-up time. */
  readonly untilS: number | undefined;
}

/** What goes wrong with one replica, and when. */
export type Fault = {
  /** Index of the replica. */
  readonly replica: number;
} & FaultSpan &
  FaultKind;

/**
 * - error: every new request gets a 500 at once; those under way go on
 * - hang: takes requests and sends nothing
 * - slow: works at 1 / factor of its speed
 * - flap: so many seconds of error, as many without, and so on
 * - restart: loses its cache and all that is under way, and refuses connections until it is back
 */
export type FaultKind =
  | { readonly kind: "error" | "hang" | "restart" }
  | { readonly kind: "slow"; readonly factor: number }
  | { readonly kind: "flap"; readonly seconds: number };

/** How long a replica takes to start. */
export const STARTUP_S = 60;

/** A fault on simulated time, in whole milliseconds. */
export type TimedFault = FaultKind & { readonly fromMs: number; readonly untilMs: number };

/** How a replica behaves at one moment. */
export interface Conduct {
  /** It refuses connections. */
  readonly isDown: boolean;
  /** It responds to every new request with an error. */
  readonly isFailing: boolean;
  /** The share of its speed at which it works. */
  readonly pace: number;
}

export const SOUND: Conduct = { isDown: false, isFailing: false, pace: 1 };

/** The faults of one replica. `timeScale` moves their times as it moves the requests of the trace; durations stay. */
export function faultsOf(replica: number, faults: readonly Fault[], timeScale: number): readonly TimedFault[] {
  return faults
    .filter((fault) => fault.replica === replica)
    .map((fault) => {
      const at = (seconds: number) => Math.round(seconds * 1000 * timeScale);
      const fromMs = at(fault.fromS);
      const endMs = fault.kind === "restart" ? fromMs + STARTUP_S * 1000 : Number.POSITIVE_INFINITY;
      return { ...fault, fromMs, untilMs: fault.untilS === undefined ? endMs : at(fault.untilS) };
    });
}

export function conductAt(faults: readonly TimedFault[], atMs: number): Conduct {
  const active = faults.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  return {
    isDown: active.some(({ kind }) => kind === "restart"),
    isFailing: active.some((fault) => fault.kind === "error" || (fault.kind === "flap" && turnAt(fault, atMs) % 2 === 0)),
    pace: active.reduce((pace, fault) => pace * paceUnder(fault), 1),
  };
}

/** When the conduct may change next; Infinity when it stays. */
export function nextChangeMs(faults: readonly TimedFault[], afterMs: number): number {
  const times = faults.flatMap((fault) => {
    const turnMs = fault.kind === "flap" ? fault.fromMs + (turnAt(fault, afterMs) + 1) * periodMs(fault) : fault.untilMs;
    return [fault.fromMs, Math.min(turnMs, fault.untilMs)];
  });
  return Math.min(Number.POSITIVE_INFINITY, ...times.filter((atMs) => atMs > afterMs));
}

type Flap = Extract<TimedFault, { kind: "flap" }>;

const periodMs = ({ seconds }: Flap) => Math.max(1, Math.round(seconds * 1000));
const turnAt = (fault: Flap, atMs: number) => Math.floor((atMs - fault.fromMs) / periodMs(fault));

function paceUnder(fault: TimedFault): number {
  if (fault.kind === "hang") return 0;
  return fault.kind === "slow" ? 1 / fault.factor : 1;
}

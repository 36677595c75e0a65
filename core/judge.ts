import type { ActiveConfig, Named } from "./active-config.ts";
import type { Detector } from "./contract/detector.ts";
import type { Ejection, Endpoint } from "./contract/endpoint.ts";
import type { TriesView } from "./pool/tries-view.ts";
import type { Services } from "./services.ts";
import type { LoadTable } from "./state/load.ts";
import { type Traffic, UNWATCHED } from "./state/traffic.ts";

/** Judges the endpoints of a pool by what requests meet there. */
export interface EndpointJudge {
  /** Is told of every try at an endpoint. */
  readonly traffic: Traffic;
  /** Whether so many endpoints fail that all that are up are used. */
  readonly isPanicking: boolean;
  /** Examines the endpoints from now on, until the returned function is called. */
  start(): () => void;
  /** Judges by these rules from now on. */
  useRules(rules: JudgeRules): void;
  /** Takes the pool as it is now. */
  follow(endpoints: readonly Endpoint[], nowMs: number): void;
  standingOf(name: string): EjectionStanding;
  /** Whether the endpoint is known to make no progress: a request that left another endpoint for that would wait here too. */
  isSilent(endpoint: Endpoint): boolean;
  /** Another router took the endpoint out of the pool; `undefined`: it has seen it work again. */
  hear?(name: string, ejection: Ejection | undefined): void;
  /** How often it took the endpoint out of the pool so far. */
  countOf(endpoint: Endpoint): number;
}

/** What the config says to a judge. */
export interface JudgeRules {
  readonly detectors: readonly Named<Detector>[];
  readonly active: Pick<ActiveConfig, "features" | "slots">;
}

/** What a judge asks of the probes. */
export interface ProbesView {
  /** When it last passed a probe, on the router's clock; -Infinity where it never did, or failed one since. */
  readonly probePassedMs: (endpoint: Endpoint) => number;
  /** Its next probe is waited for. */
  readonly probeSoon: (endpoint: Endpoint) => void;
}

/** What a judge asks of its pool, and tells it. */
export interface JudgedPool extends ProbesView {
  readonly tries: TriesView;
  /** Whether the probes let it be used. */
  readonly isHealthy: (name: string) => boolean;
  /** The endpoint's standing is not what it was. */
  readonly changed: (name: string) => void;
}

/** What a judge is made with. */
export interface JudgeHost extends JudgeRules, JudgedPool {
  readonly services: Services;
  readonly load: LoadTable;
}

export type MakeJudge = (host: JudgeHost) => EndpointJudge;

/** What a judge says of an endpoint. */
export interface EjectionStanding {
  readonly ejection: Ejection | undefined;
  /** The next request decides whether it returns; false while that one is under way. */
  readonly isOnTrial: boolean;
  /** It is out but used, because too many are out, or no other endpoint serves one of its models. */
  readonly isNeeded: boolean;
  /** How far it is warmed up, in (0, 1]. */
  readonly warmUp: number;
}

/** Of an endpoint that has nothing held against it. */
export const NOTHING: EjectionStanding = { ejection: undefined, isOnTrial: false, isNeeded: false, warmUp: 1 };

/** Where nobody judges. */
export const NO_JUDGE: EndpointJudge = {
  traffic: UNWATCHED,
  isPanicking: false,
  start: () => () => {},
  useRules() {},
  follow() {},
  standingOf: () => NOTHING,
  isSilent: () => false,
  countOf: () => 0,
};

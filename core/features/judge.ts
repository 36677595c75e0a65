import type { ActiveConfig, Named } from "../active-config.ts";
import type { Detector } from "../contract/detector.ts";
import type { Ejection, Endpoint } from "../contract/endpoint.ts";
import type { Services } from "../services.ts";
import type { LoadTable } from "../state/load.ts";
import { type Traffic, UNWATCHED } from "../state/traffic.ts";

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
  /** How often it took the endpoint out of the pool so far. */
  countOf(endpoint: Endpoint): number;
}

/** What the config says to a judge. */
export interface JudgeRules {
  readonly detectors: readonly Named<Detector>[];
  readonly features: ActiveConfig["features"];
}

/** What a judge asks of its pool, and tells it. */
export interface JudgeHost extends JudgeRules {
  readonly services: Services;
  readonly load: LoadTable;
  /** Whether the probes let it be used. */
  readonly isHealthy: (name: string) => boolean;
  /** When it last sent bytes of tokens, on the router's clock; -Infinity before the first. */
  readonly lastByteMs: (endpoint: Endpoint) => number;
  /** The endpoint's standing is not what it was. */
  readonly changed: (name: string) => void;
  /** Gives up the requests there that have waited for a token for at least `leastMs`. Returns whether there were any. */
  readonly cutWaiting: (endpoint: Endpoint, leastMs: number) => boolean;
  /** Gives up the streams there that fell silent at least `leastMs` ago; `isWitnessed`: a request got no token meanwhile. */
  readonly cutStreams: (endpoint: Endpoint, leastMs: number, isWitnessed: boolean) => void;
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
  countOf: () => 0,
};

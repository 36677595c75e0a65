import type { ModelCards } from "../../contract/endpoint.ts";
import type { Probes } from "../../settings.ts";
import { type GetFailure, NOBODY_THERE } from "../../wire/get-error.ts";

/** Why a probe failed: no response, or a status other than 200. */
export type ProbeFailure = GetFailure | `status ${number}`;

/** The phase of a replica according to the probes and its own metrics. */
export type HealthPhase = "starting" | "ready" | "not-ready" | "asleep";

/** What the prober knows about one replica: the results of the three probes, and the phase that follows from them. */
export interface ReplicaHealth {
  readonly phase: HealthPhase;
  /** The startup probe has succeeded; liveness and readiness count from here on. */
  readonly isStarted: boolean;
  /** The startup takes longer than it may. */
  readonly isOverdue: boolean;
  /** Result of the readiness probe. */
  readonly isServing: boolean;
  /** Result of the liveness probe; true at the beginning. */
  readonly isAlive: boolean;
  /** Failures in a row, up to the probe's threshold. */
  readonly readinessFailures: number;
  readonly livenessFailures: number;
  /** Why the last startup or readiness probe failed; "" after a success. */
  readonly readinessFailure: ProbeFailure | "";
  readonly livenessFailure: ProbeFailure | "";
  /** How often the liveness probe reached its threshold; Kubernetes would have restarted the container each time. */
  readonly livenessLosses: number;
  /** In service, and its engine says that it sleeps. */
  readonly isAsleep: boolean;
  readonly models: readonly string[];
  /** What its own list says of them; the same object until it says something else. */
  readonly modelCards?: ModelCards | undefined;
  /** Grows when another process or another model has replaced the replica, so that its caches are empty. */
  readonly generation: number;
  /** The process seems to have ended since the last successful readiness probe. */
  readonly hasRestarted: boolean;
}

export type ProbeEvent =
  | { readonly type: "startup"; readonly failure: ProbeFailure | undefined }
  | { readonly type: "startup-overdue" }
  | { readonly type: "readiness"; readonly failure: ProbeFailure | undefined }
  | { readonly type: "liveness"; readonly failure: ProbeFailure | undefined }
  /** The replica's own model list was read. */
  | { readonly type: "models"; readonly models: readonly string[]; readonly cards?: ModelCards | undefined }
  /** The replica's own metrics were read. */
  | { readonly type: "asleep"; readonly isAsleep: boolean }
  /** A routed request could not connect, or a gateway's and a probe. */
  | { readonly type: "connect-failed" };

/** A replica before its first probe. */
export const NEW_REPLICA: ReplicaHealth = {
  phase: "starting",
  isStarted: false,
  isOverdue: false,
  isServing: false,
  isAlive: true,
  readinessFailures: 0,
  livenessFailures: 0,
  readinessFailure: "",
  livenessFailure: "",
  livenessLosses: 0,
  isAsleep: false,
  models: [],
  generation: 0,
  hasRestarted: false,
};

/** The next state of a replica; the same object when the event changes nothing. */
export function reduce(health: ReplicaHealth, event: ProbeEvent, probes: Probes): ReplicaHealth {
  const next = { ...health, ...patch(health, event, probes) };
  // Metrics are read only in service: what they said before says nothing of the replica that returns.
  const isAsleep = next.isAsleep && isInService(next);
  return sameOr(health, { ...next, isAsleep, phase: phaseOf({ ...next, isAsleep }, probes) });
}

/** Whether the replica may get requests: the results of all three probes are good. */
export function isInService({ isStarted, isServing, isAlive }: ReplicaHealth): boolean {
  return isStarted && isServing && isAlive;
}

/** True while a failed probe only means that the model is being loaded, which is not an error. */
export function isLoading(health: ReplicaHealth): boolean {
  if (health.phase !== "starting") return false;
  return LOADING.has(health.readinessFailure) || health.livenessFailure === "status 503";
}

const LOADING: ReadonlySet<string> = new Set([...NOBODY_THERE, "status 503"]);

type Patch = Partial<ReplicaHealth>;

function patch(health: ReplicaHealth, event: ProbeEvent, probes: Probes): Patch {
  switch (event.type) {
    case "startup":
      return startupPatch(health, event.failure);
    case "startup-overdue":
      return health.isStarted ? {} : { isOverdue: true };
    case "readiness":
      return readinessPatch(health, event.failure, probes.readiness.failureThreshold);
    case "liveness":
      return livenessPatch(health, event.failure, probes.liveness.failureThreshold);
    case "models":
      return { ...cardsPatch(health, event.cards), ...modelsPatch(health, event.models) };
    case "asleep":
      return sleepPatch(health, event.isAsleep);
    case "connect-failed":
      return connectFailedPatch(health, probes.readiness.failureThreshold);
  }
}

function startupPatch(health: ReplicaHealth, failure: ProbeFailure | undefined): Patch {
  if (health.isStarted) return {};
  const isStarted = failure === undefined && health.isAlive;
  return { isStarted, readinessFailure: failure ?? "", isOverdue: health.isOverdue && !isStarted };
}

function readinessPatch(health: ReplicaHealth, failure: ProbeFailure | undefined, threshold: number): Patch {
  if (!health.isStarted) return {};
  if (failure === undefined) {
    const generation = health.generation + (health.hasRestarted ? 1 : 0);
    return { readinessFailure: "", readinessFailures: 0, isServing: true, generation, hasRestarted: false };
  }
  const readinessFailures = Math.min(health.readinessFailures + 1, threshold);
  return {
    readinessFailure: failure,
    readinessFailures,
    isServing: health.isServing && readinessFailures < threshold,
    hasRestarted: health.hasRestarted || failure === "refused",
  };
}

/**
 * Some engines list their models before they have loaded them, and return 503 on the liveness path meanwhile. So, while the
 * replica is not in service, one 503 there keeps it out; in service it takes several failures in a row. 404 counts as a success:
 * the process responds, it only has no liveness path.
 */
function livenessPatch(health: ReplicaHealth, failure: ProbeFailure | undefined, threshold: number): Patch {
  if (failure === undefined || failure === "status 404") return { livenessFailure: "", livenessFailures: 0, isAlive: true };
  const isVeto = !isInService(health) && failure === "status 503";
  if (!health.isStarted) return { livenessFailure: failure, isAlive: health.isAlive && !isVeto };
  const livenessFailures = Math.min(health.livenessFailures + 1, threshold);
  const isLost = livenessFailures === threshold;
  const isLostNow = isLost && health.livenessFailures < threshold;
  return {
    livenessFailure: failure,
    livenessFailures,
    isAlive: health.isAlive && !isVeto && !isLost,
    livenessLosses: health.livenessLosses + (isLostNow ? 1 : 0),
    hasRestarted: health.hasRestarted || isLost || failure === "refused",
  };
}

/**
 * The names change when adapters are loaded and unloaded. In service, only a list without any known name means another process;
 * out of service, any changed list does.
 */
function modelsPatch(health: ReplicaHealth, models: readonly string[]): Patch {
  const known = health.models;
  if (known.length === models.length && known.every((model, index) => model === models[index])) return {};
  if (known.length === 0) return { models };
  if (!isInService(health)) return { models, hasRestarted: true };
  const isOther = !known.some((model) => models.includes(model));
  return { models, generation: health.generation + (isOther ? 1 : 0) };
}

function cardsPatch({ modelCards }: ReplicaHealth, cards: ModelCards | undefined): Patch {
  // As text, because each read makes new objects.
  return modelCards === cards || JSON.stringify(modelCards) === JSON.stringify(cards) ? {} : { modelCards: cards };
}

/** A sleeping engine has given up its cache. */
function sleepPatch(health: ReplicaHealth, isAsleep: boolean): Patch {
  if (!isInService(health)) return {};
  return { isAsleep, generation: health.generation + (isAsleep && !health.isAsleep ? 1 : 0) };
}

function connectFailedPatch(health: ReplicaHealth, threshold: number): Patch {
  if (!isInService(health)) return {};
  return { isServing: false, readinessFailures: threshold, readinessFailure: "refused", hasRestarted: true };
}

function phaseOf(health: ReplicaHealth, probes: Probes): HealthPhase {
  if (isInService(health)) return health.isAsleep ? "asleep" : "ready";
  const isGivenUp =
    health.isOverdue ||
    health.readinessFailures >= probes.readiness.failureThreshold ||
    health.livenessFailures >= probes.liveness.failureThreshold;
  return health.phase === "starting" && !isGivenUp ? "starting" : "not-ready";
}

function sameOr(health: ReplicaHealth, next: ReplicaHealth): ReplicaHealth {
  const keys = Object.keys(next) as (keyof ReplicaHealth)[];
  return keys.every((key) => Object.is(health[key], next[key])) ? health : next;
}

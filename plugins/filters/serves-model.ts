import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { modelNotFound } from "../../core/report/model-names.ts";
import { thoseThatHold, tooLong } from "./holds-prompt.ts";

/** What a request in flight adds to the wait of the next one, in milliseconds. */
const DECODE_MS = 8;

/**
 * Keeps endpoints that list the target. Where the request allows it, a replica may also load the target when it is asked for: then
 * endpoints count too whose replica is loading it, or has just served it. If there are none, all are kept that have not refused
 * it, or the request's path, lately. One further endpoint is kept where the queues of all these take longer than its own and a load.
 */
export default defineFilter({
  type: "serves-model",
  summary: "Keeps endpoints that list the target, or that may load it, and whose context is long enough for the prompt.",
  create: () => ({
    expresses: "need",
    filter(request, candidates, load) {
      const { target, onDemand } = request;
      if (target === "") return candidates;
      // Usually all do, and no new list is needed.
      if (doAllList(candidates, target)) return thoseThatHold(request, candidates);
      const isListedOnly = onDemand === "never" || candidates.some((endpoint) => isBaseModelOf(endpoint, target, load));
      const serving = isListedOnly
        ? candidates.filter(({ models }) => models.has(target))
        : thoseToAsk(request, candidates, load);
      return thoseThatHold(request, serving);
    },
    refuse,
  }),
});

/** A loop, because a closure made for each request costs more than the look-ups. */
function doAllList(candidates: readonly Endpoint[], target: string): boolean {
  for (const { models } of candidates) if (!models.has(target)) return false;
  return true;
}

/** True only if a model list distinguishes base models, which no other replica can load, from adapters. */
function isBaseModelOf({ slot, models }: Endpoint, target: string, load: LoadView): boolean {
  return models.has(target) && load.adapters(slot)?.names?.has(target) === false;
}

function thoseToAsk({ target, path }: InferenceRequest, candidates: readonly Endpoint[], load: LoadView): readonly Endpoint[] {
  const holding: Endpoint[] = [];
  const others: Endpoint[] = [];
  for (const endpoint of candidates) {
    const standing = endpoint.models.has(target) ? "served" : load.unlisted(endpoint.slot, target)?.standing;
    if (standing === undefined && load.unlisted(endpoint.slot, path)?.standing !== "refused") others.push(endpoint);
    if (standing !== undefined && standing !== "refused") holding.push(endpoint);
  }
  if (holding.length === 0) return others;
  const [, shortestMs] = shortestQueue(holding, load);
  const [further, queueMs] = shortestQueue(others, load);
  if (queueMs + load.adapterLoadMs >= shortestMs) return holding;
  return candidates.filter((endpoint) => endpoint === further || holding.includes(endpoint));
}

/** The endpoint with the shortest queue, and how long that takes in milliseconds; Infinity if there is no endpoint. */
function shortestQueue(
  endpoints: readonly Endpoint[],
  load: LoadView,
): readonly [endpoint: Endpoint | undefined, queueMs: number] {
  let best: Endpoint | undefined;
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    const { slot } = endpoint;
    const queueMs = load.remainingPrefill(slot) / load.prefillRate(slot) + DECODE_MS * load.inFlight(slot);
    if (queueMs >= shortestMs) continue;
    best = endpoint;
    shortestMs = queueMs;
  }
  return [best, shortestMs];
}

function refuse(request: InferenceRequest, endpoints: readonly Endpoint[], clientModels: readonly string[] = []): RouterError {
  const isTooLong = tooLong(request, endpoints);
  if (isTooLong !== undefined) return isTooLong;
  const { rule, target } = request;
  if (rule !== "") {
    const fix = "load it on a replica, or move its weight to another target";
    const message = `No ready replica serves "${target}", a target of the rule "${rule}": ${fix}.`;
    return new RouterError("target_unavailable", message, { retryAfterS: 1 });
  }
  const waiting = endpoints.filter((endpoint) => !endpoint.isAvailable && endpoint.models.has(target)).length;
  if (waiting > 0) {
    const message = `No replica that serves this model is ready (${waiting} not ready); try again shortly.`;
    return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
  }
  const listed = endpoints.flatMap(({ models }) => [...models]);
  return modelNotFound("No replica serves this model", request.model, { clientModels, listed });
}

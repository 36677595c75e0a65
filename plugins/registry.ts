import type { Definition } from "../core/contract/plugin.ts";
import fairQueue from "./admissions/fair-queue.ts";
import jwt from "./authenticators/jwt.ts";
import keys from "./authenticators/keys.ts";
import consecutiveFailures from "./detectors/consecutive-failures.ts";
import emptyAnswers from "./detectors/empty-answers.ts";
import failureRate from "./detectors/failure-rate.ts";
import malformedResponses from "./detectors/malformed-responses.ts";
import missingModel from "./detectors/missing-model.ts";
import noProgress from "./detectors/no-progress.ts";
import slowFirstToken from "./detectors/slow-first-token.ts";
import dns from "./discovery/dns.ts";
import file from "./discovery/file.ts";
import staticEndpoints from "./discovery/static.ts";
import adapterCalls from "./features/adapter-calls/feature.ts";
import admission from "./features/admission/feature.ts";
import auth from "./features/auth/feature.ts";
import compressedBodies from "./features/compressed-bodies/feature.ts";
import conversations from "./features/conversations/feature.ts";
import disaggregation from "./features/disaggregation/feature.ts";
import ejection from "./features/ejection/feature.ts";
import keepAlive from "./features/keep-alive/feature.ts";
import kubernetes from "./features/kubernetes/feature.ts";
import kvEvents from "./features/kv-events/feature.ts";
import mirror from "./features/mirror/feature.ts";
import models from "./features/models/feature.ts";
import pools from "./features/pools/feature.ts";
import quarantine from "./features/quarantine/feature.ts";
import refusedPaths from "./features/refused-paths/feature.ts";
import residentAdapters from "./features/resident-adapters/feature.ts";
import rollouts from "./features/rollouts/feature.ts";
import scale from "./features/scale/feature.ts";
import sessions from "./features/sessions/feature.ts";
import shadow from "./features/shadow/feature.ts";
import shared from "./features/shared/feature.ts";
import stored from "./features/stored/feature.ts";
import websockets from "./features/websockets/feature.ts";
import attributeFilter from "./filters/attribute-filter.ts";
import byLabel from "./filters/by-label.ts";
import concurrency from "./filters/concurrency.ts";
import labelSelector from "./filters/label-selector.ts";
import prefixCacheAffinity from "./filters/prefix-cache-affinity.ts";
import ready from "./filters/ready.ts";
import servesModel from "./filters/serves-model.ts";
import sessionAffinityFilter from "./filters/session-affinity-filter.ts";
import topologyFilter from "./filters/topology-filter.ts";
import utilization from "./filters/utilization.ts";
import accessLog from "./observers/access-log.ts";
import decisions from "./observers/decisions.ts";
import otelTraces from "./observers/otel-traces.ts";
import requestMetrics from "./observers/request-metrics.ts";
import chatCompletions from "./parsers/chat-completions.ts";
import completions from "./parsers/completions.ts";
import embeddings from "./parsers/embeddings.ts";
import generate from "./parsers/generate.ts";
import messages from "./parsers/messages.ts";
import modelPaths from "./parsers/model-paths.ts";
import passthrough from "./parsers/passthrough.ts";
import responses from "./parsers/responses.ts";
import storedPaths from "./parsers/stored-paths.ts";
import maxScore from "./pickers/max-score.ts";
import powerOfTwo from "./pickers/power-of-two.ts";
import random from "./pickers/random.ts";
import roundRobin from "./pickers/round-robin.ts";
import weightedRandom from "./pickers/weighted-random.ts";
import { referenceDefinitions } from "./reference-names.ts";
import modelRewrite from "./rewriters/model-rewrite.ts";
import activeRequest from "./scorers/active-request.ts";
import attributeScorer from "./scorers/attribute-scorer.ts";
import burstPrefix from "./scorers/burst-prefix.ts";
import contextLengthAware from "./scorers/context-length-aware.ts";
import kvCacheUtilization from "./scorers/kv-cache-utilization.ts";
import loadAware from "./scorers/load-aware.ts";
import loraAffinity from "./scorers/lora-affinity.ts";
import noHitLru from "./scorers/no-hit-lru.ts";
import outstandingWork from "./scorers/outstanding-work.ts";
import prefixCache from "./scorers/prefix-cache.ts";
import queue from "./scorers/queue.ts";
import running from "./scorers/running.ts";
import sessionAffinityScorer from "./scorers/session-affinity-scorer.ts";
import tokenLoad from "./scorers/token-load.ts";
import topologyScorer from "./scorers/topology-scorer.ts";
import dcgm from "./sources/dcgm.ts";
import metrics from "./sources/metrics.ts";
import modelList from "./sources/model-list.ts";

const definitions: readonly Definition[] = [
  ...[keys, jwt],
  ...[completions, chatCompletions, responses, embeddings, messages, generate, modelPaths, storedPaths, passthrough],
  modelRewrite,
  ...[ready, servesModel, labelSelector, byLabel, sessionAffinityFilter, prefixCacheAffinity, utilization, concurrency],
  ...[attributeFilter, topologyFilter],
  ...[outstandingWork, prefixCache, queue, running, kvCacheUtilization, activeRequest, loadAware, tokenLoad],
  ...[loraAffinity, noHitLru, sessionAffinityScorer, contextLengthAware],
  ...[burstPrefix, attributeScorer, topologyScorer],
  ...[maxScore, weightedRandom, random, roundRobin, powerOfTwo],
  fairQueue,
  ...[staticEndpoints, file, dns],
  ...[modelList, metrics, dcgm],
  ...[consecutiveFailures, missingModel, malformedResponses, emptyAnswers, noProgress, failureRate, slowFirstToken],
  ...[accessLog, requestMetrics, decisions, otelTraces],
  ...[conversations, auth, stored, scale, keepAlive, sessions, admission, quarantine, shadow, mirror, disaggregation],
  ...[ejection, kubernetes, rollouts, kvEvents, shared, pools],
  ...[models, adapterCalls, residentAdapters, refusedPaths, compressedBodies, websockets],
];

const own = new Map(definitions.map((definition) => [definition.type, definition]));

/**
 * Every built-in plugin, by the names that a config may use. Each type has one name of our own, unique across all kinds: the
 * definition's `type`, which is also its file's name. If the reference router has a plugin that does the same job, its name there
 * (`plugins/reference-names.ts`) is a second key for the same plugin, with the reference's parameters. So a key that differs from
 * its definition's `type` is such a name, and its instances have our type.
 */
export const builtIns: ReadonlyMap<string, Definition> = new Map([...own, ...referenceDefinitions(own)]);

import type { Definition } from "../core/plugin.ts";
import staticEndpoints from "./discovery/static.ts";
import labelSelector from "./filters/label-selector.ts";
import ready from "./filters/ready.ts";
import servesModel from "./filters/serves-model.ts";
import accessLog from "./observers/access-log.ts";
import chatCompletions from "./parsers/chat-completions.ts";
import completions from "./parsers/completions.ts";
import embeddings from "./parsers/embeddings.ts";
import generate from "./parsers/generate.ts";
import messages from "./parsers/messages.ts";
import passthrough from "./parsers/passthrough.ts";
import responses from "./parsers/responses.ts";
import maxScore from "./pickers/max-score.ts";
import random from "./pickers/random.ts";
import roundRobin from "./pickers/round-robin.ts";
import weightedRandom from "./pickers/weighted-random.ts";
import modelRewrite from "./rewriters/model-rewrite.ts";
import activeRequest from "./scorers/active-request.ts";
import kvCacheUtilization from "./scorers/kv-cache-utilization.ts";
import outstandingWork from "./scorers/outstanding-work.ts";
import prefixCache from "./scorers/prefix-cache.ts";
import queue from "./scorers/queue.ts";
import running from "./scorers/running.ts";
import metrics from "./sources/metrics.ts";
import modelList from "./sources/model-list.ts";

const definitions: readonly Definition[] = [
  completions,
  chatCompletions,
  responses,
  embeddings,
  messages,
  generate,
  passthrough,
  modelRewrite,
  ready,
  servesModel,
  labelSelector,
  outstandingWork,
  prefixCache,
  queue,
  running,
  kvCacheUtilization,
  activeRequest,
  maxScore,
  weightedRandom,
  random,
  roundRobin,
  staticEndpoints,
  modelList,
  metrics,
  accessLog,
];

/** Every built-in plugin by its type; a type is unique across all kinds. */
export const builtIns: ReadonlyMap<string, Definition> = new Map(definitions.map((definition) => [definition.type, definition]));

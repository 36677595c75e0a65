import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

const options = z.strictObject({
  /** For a name that no candidate lists: refuse it, or forward it to replicas that load adapters on demand. */
  unlisted: z.enum(["refuse", "forward"]).default("refuse"),
});

const NAMES_SHOWN = 8;
/** Engines that load adapters on demand append the name to a folder's path. A name that would leave the folder is never sent. */
const ESCAPES_FOLDER = /^\/|(?:^|\/)\.\.(?:\/|$)|\0/;

export default defineFilter({
  type: "serves-model",
  summary: "Keeps endpoints that list the target among their models.",
  options,
  create: ({ unlisted }) => ({
    filter(request, candidates) {
      const target = request.target;
      if (target === "") return candidates;
      const serves = (endpoint: Endpoint) => endpoint.models.has(target);
      if (candidates.every(serves)) return candidates;
      const serving = candidates.filter(serves);
      if (serving.length > 0 || unlisted === "refuse" || ESCAPES_FOLDER.test(target)) return serving;
      return candidates;
    },
    refuse,
  }),
});

function refuse(request: InferenceRequest, endpoints: readonly Endpoint[]): RouterError {
  const { rule, target } = request;
  if (rule !== "") {
    const fix = "load it on a replica, or move its weight to another target";
    return new RouterError("target_unavailable", `No ready replica serves "${target}", a target of the rule "${rule}": ${fix}.`, {
      retryAfterS: 1,
    });
  }
  const waiting = endpoints.filter((endpoint) => !endpoint.isAvailable && endpoint.models.has(target)).length;
  if (waiting > 0) {
    const message = `No replica that serves this model is ready (${waiting} not ready); try again shortly.`;
    return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
  }
  return new RouterError("model_not_found", `No replica serves this model; ${availableNames(endpoints)}.`);
}

function availableNames(endpoints: readonly Endpoint[]): string {
  const names = [...new Set(endpoints.flatMap((endpoint) => [...endpoint.models]))].sort();
  if (names.length === 0) return "none has listed a model yet";
  const hidden = names.length - NAMES_SHOWN;
  const more = hidden > 0 ? ` and ${hidden} more that GET /v1/models lists` : "";
  return `set "model" to one of: ${names.slice(0, NAMES_SHOWN).join(", ")}${more}`;
}

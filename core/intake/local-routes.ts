import type { ActiveConfig } from "../active-config.ts";
import { isServing } from "../contract/endpoint.ts";
import type { NameSet } from "../contract/name-set.ts";
import type { TargetMapping } from "../contract/rewriter.ts";
import { respondWithJson } from "../errors/error-response.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import { modelNotFound } from "../report/model-names.ts";
import type { RouterParts } from "../router-parts.ts";
import type { Facts } from "../state/facts.ts";
import type { Head } from "../wire/head.ts";
import { aboutModel, aboutTargets } from "./model-cards.ts";
import { answerPreflight, isPreflight } from "./preflight.ts";
import { MODELS_PATH } from "./served-routes.ts";

/** Paths that ask how the router is. Who asks is a machine, every few seconds, so observers are not told of it. */
const PROBE_PATHS: ReadonlySet<string> = new Set(["/health", "/ready"]);

export function isProbePath(path: string): boolean {
  return PROBE_PATHS.has(path);
}

/** What these responses say. */
interface LocalParts {
  readonly pool: { readonly facts: Facts };
  readonly identity: Pick<RouterParts["identity"], "startedAtS" | "isStopping">;
}

/**
 * Responds to a request that needs no replica, preflights included; `lines` are header lines of every response. Returns the
 * status; 0 for any other path or method. Throws RouterError for a model that there is not.
 */
export function respondLocally(
  head: Head,
  path: string,
  config: ActiveConfig,
  { pool, identity }: LocalParts,
  response: ResponseWriter,
  lines: string,
  allowed: NameSet | undefined,
): number {
  const { method } = head;
  const { cors } = config.settings;
  const { facts } = pool;
  const { startedAtS, isStopping } = identity;
  if (isPreflight(head, cors)) return answerPreflight(head, path, cors, config.routes, response, lines);
  if (method !== "GET" && method !== "HEAD") return 0;
  if (path === "/health") return respond(response, 200, lines, {});
  if (path === MODELS_PATH)
    return respond(response, 200, lines, modelList(namesFor(allowed, config, facts), config, facts, startedAtS));
  if (path.startsWith(`${MODELS_PATH}/`))
    return respond(
      response,
      200,
      lines,
      oneModel(path.slice(MODELS_PATH.length + 1), namesFor(allowed, config, facts), config, facts, startedAtS),
    );
  if (path === "/ready") return respondReady(response, lines, facts, isStopping);
  return 0;
}

interface ShownNames {
  readonly clientModels: readonly string[];
  readonly listed: ReadonlySet<string>;
}

function respond(response: ResponseWriter, status: number, lines: string, document: unknown): number {
  respondWithJson(response, status, lines, JSON.stringify(document));
  return status;
}

function respondReady(response: ResponseWriter, lines: string, { endpoints }: Facts, isStopping: boolean): number {
  const ready = endpoints.filter(isServing).length;
  const document = { ready, endpoints: endpoints.length, ...(isStopping && { stopping: true }) };
  return ready > 0 && !isStopping
    ? respond(response, 200, lines, document)
    : respond(response, 503, `${lines}retry-after: 1\r\n`, document);
}

/** Every name that this client may ask for now: of the models of available endpoints, and of the names of exact rewrites. */
function namesFor(allowed: NameSet | undefined, config: ActiveConfig, { served }: Facts): ShownNames {
  const isAllowed = (name: string) => allowed === undefined || allowed.has(name);
  return { clientModels: clientModelsOf(config).filter(isAllowed), listed: new Set([...served].filter(isAllowed)) };
}

function modelList({ clientModels, listed }: ShownNames, config: ActiveConfig, facts: Facts, startedAtS: number): unknown {
  const names = new Set([...listed, ...clientModels]);
  const rules = rulesOf(config);
  return { object: "list", data: [...names].map((id) => shownModel(id, rules, facts, startedAtS)) };
}

/** One model of the list, by the rest of the path: as it is, since names may hold slashes, or percent-encoded. */
function oneModel(rest: string, names: ShownNames, config: ActiveConfig, facts: Facts, startedAtS: number): unknown {
  const id = [rest, decoded(rest)].find((name) => names.listed.has(name) || names.clientModels.includes(name));
  if (id === undefined) throw modelNotFound("There is no such model", decoded(rest), names);
  return shownModel(id, rulesOf(config), facts, startedAtS);
}

function clientModelsOf({ rewriters }: ActiveConfig): readonly string[] {
  return rewriters.flatMap(({ plugin }) => plugin.clientModels);
}

function rulesOf({ rewriters }: ActiveConfig): readonly TargetMapping[] {
  return rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
}

function shownModel(id: string, rules: readonly TargetMapping[], facts: Facts, startedAtS: number): unknown {
  const rule = rules.find(({ models }) => models.includes(id));
  const about = rule === undefined ? aboutModel(id, facts) : aboutTargets(rule, facts);
  return { id, object: "model", created: startedAtS, owned_by: "signalbox", ...about };
}

/** The text itself where it is not well encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

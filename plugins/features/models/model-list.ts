import type { ActiveConfig } from "../../../core/active-config.ts";
import type { TargetMapping } from "../../../core/contract/rewriter.ts";
import { modelNotFound } from "../../../core/report/model-names.ts";
import type { Run } from "../../../core/run.ts";
import { endpointsElsewhere } from "../../../core/slots.ts";
import { type Facts, factsOf } from "../../../core/state/facts.ts";
import { aboutModel, aboutTargets } from "./model-cards.ts";

export function modelList(run: Run): unknown {
  const { listed, clientModels } = namesFor(run);
  return { object: "list", data: [...new Set([...listed, ...clientModels])].map((id) => shownModel(id, run)) };
}

/**
 * One model of the list, by the rest of the path: as it is, since names may hold slashes, or percent-encoded. Throws RouterError for one
 * that there is not.
 */
export function oneModel(run: Run, rest: string): unknown {
  const names = namesFor(run);
  const id = [rest, decoded(rest)].find((name) => names.listed.has(name) || names.clientModels.includes(name));
  if (id === undefined) throw modelNotFound("There is no such model", decoded(rest), names);
  return shownModel(id, run);
}

/** Every name that this client may ask for now: of the models of available endpoints, and of the names of exact rewrites. */
function namesFor(run: Run) {
  const { ticket, config } = run;
  const { rewriters } = config;
  const allowed = ticket.principal?.models;
  const isAllowed = (name: string) => allowed === undefined || allowed.has(name);
  const clientModels = rewriters.flatMap(({ plugin }) => plugin.clientModels);
  return { clientModels: clientModels.filter(isAllowed), listed: new Set([...factsOfAll(run).served].filter(isAllowed)) };
}

function shownModel(id: string, run: Run): unknown {
  const { config, parts } = run;
  const facts = factsOfAll(run);
  const rule = rulesOf(config).find(({ models }) => models.includes(id));
  const about = rule === undefined ? aboutModel(id, facts) : aboutTargets(rule, facts);
  return { id, object: "model", created: parts.identity.startedAtS, owned_by: "signalbox", ...about };
}

/** Of all pools together. */
function factsOfAll({ config, parts }: Run): Facts {
  const { facts } = parts.pool;
  const others = endpointsElsewhere(config.modules);
  return others.length === 0 ? facts : factsOf([...facts.endpoints, ...others]);
}

function rulesOf({ rewriters }: ActiveConfig): readonly TargetMapping[] {
  return rewriters.flatMap(({ plugin }) => plugin.mappings ?? []);
}

/** The text itself where it is not well encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

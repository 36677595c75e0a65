import type { Principal } from "../../../core/contract/principal.ts";
import type { HeaderView } from "../../../core/contract/request.ts";
import { type AdmissionSettings, LEAST_PRIORITY, MOST_PRIORITY } from "./admission-config.ts";

/** Who a request belongs to, and how much it matters. */
export interface Standing {
  readonly tenant: string;
  readonly priority: number;
}

const OBJECTIVE_HEADERS = ["x-llm-d-inference-objective", "x-gateway-inference-objective"];
/** A longer name is cut, so that a client can't fill the log with it. */
const LONGEST_TENANT = 128;

/** Who showed a key is known; else headers are believed: one with a priority, then one that names an objective, then the model counts. */
export function standingOf(
  principal: Principal | undefined,
  model: string,
  headers: HeaderView,
  settings: AdmissionSettings,
): Standing {
  if (principal !== undefined) return { tenant: principal.tenant, priority: principal.priority };
  const { tenantHeaders, modelPriorities } = settings;
  const tenant = firstOf(tenantHeaders, headers)?.slice(0, LONGEST_TENANT) ?? "";
  const ofModel = Object.hasOwn(modelPriorities, model) ? modelPriorities[model] : undefined;
  return { tenant, priority: headerPriority(headers, settings) ?? objectivePriority(headers, settings) ?? ofModel ?? 0 };
}

function headerPriority(headers: HeaderView, { priorityHeaders }: AdmissionSettings): number | undefined {
  const text = firstOf(priorityHeaders, headers);
  if (text === undefined || !/^[+-]?\d{1,10}$/.test(text)) return undefined;
  return Math.min(MOST_PRIORITY, Math.max(LEAST_PRIORITY, Number(text)));
}

function objectivePriority(headers: HeaderView, { objectives }: AdmissionSettings): number | undefined {
  if (objectives.size === 0) return undefined;
  const name = firstOf(OBJECTIVE_HEADERS, headers);
  return name === undefined ? undefined : objectives.get(name);
}

function firstOf(names: readonly string[], headers: HeaderView): string | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

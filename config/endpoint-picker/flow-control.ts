import type { PluginSource } from "../plugins/read.ts";
import { isMapping, type Path, quoted } from "../read/problems.ts";
import { type Entry, entryNamed, type PickerResource } from "./entries.ts";
import { CONCURRENCY_DETECTOR, FLOW_POLICIES } from "./types.ts";

// The reference's flow control as `spec.admission` and an instance of fair-queue.

const DAY_MS = 86_400_000;
const FAIRNESS_HEADERS = ["x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id"];
/** The reference's own bounds where a file has none. */
const MOST_REQUESTS = 5_000;
const MOST_BYTES = 2 ** 30;
/** The most that the section takes. */
const LARGEST_LINE = 100_000;

interface FlowControl {
  /** `spec.admission`, as a document would have it. */
  readonly admission: Readonly<Record<string, unknown>>;
  readonly queue: PluginSource;
}

/** Undefined while the feature gate is off: then the reference queues nothing, whatever the section says. */
export function readFlowControl(
  entries: readonly Entry[],
  detector: string | undefined,
  resource: PickerResource,
): FlowControl | undefined {
  checkPolicies(entries, resource);
  if (!isGateOn(resource)) return undefined;
  const { flowControl = {} } = resource.document;
  const { maxBytes, maxRequests, defaultRequestTTL = 60_000, priorityBands = [] } = flowControl;
  const bands = [flowControl.defaultPriorityBand, flowControl.defaultNegativePriorityBand, ...priorityBands].flatMap(
    (each) => each ?? [],
  );
  const sum = (read: (each: (typeof bands)[number]) => number | undefined) =>
    bands.reduce((total, each) => total + (read(each) ?? 0), 0);
  const requests = maxRequests || sum((each) => each.maxRequests) || MOST_REQUESTS;
  const bytes = maxBytes || sum((each) => each.maxBytes) || MOST_BYTES;
  const admission = {
    ...roomOf(entries, detector),
    maxRequests: Math.min(requests, LARGEST_LINE),
    maxBytes: bytes,
    maxWaitMs: defaultRequestTTL === 0 ? DAY_MS : Math.max(1, defaultRequestTTL),
    waitsForReplicas: true,
    tenantHeaders: FAIRNESS_HEADERS,
  };
  const parameters = {
    fairness: policyOf("fairness", entries, resource) ?? "none",
    order: policyOf("ordering", entries, resource) ?? "arrival",
    ceiling: ceilingOf(entries, resource),
  };
  return { admission, queue: { spec: { type: "fair-queue", parameters }, path: ["flowControl"], place: resource } };
}

function isGateOn({ document }: PickerResource): boolean {
  return (document.featureGates ?? []).some((gate) => /^\s*flowControl\s*(=\s*true\s*)?$/i.test(gate));
}

/** A detector that counts says how much a replica may have; otherwise that is learned. */
function roomOf(entries: readonly Entry[], detector: string | undefined): Readonly<Record<string, number>> {
  const entry = entries.find(({ name }) => name === detector);
  if ((entry?.type ?? detector) !== CONCURRENCY_DETECTOR) return {};
  const given = isMapping(entry?.parameters) ? entry.parameters : {};
  const { concurrencyMode = "requests", maxConcurrency = 100, maxTokenConcurrency = 1_000_000, headroom = 0 } = given;
  const most = Number(concurrencyMode === "tokens" ? maxTokenConcurrency : maxConcurrency) * (1 + Number(headroom));
  // Wrong parameters are reported where the detector is read.
  if (!(most >= 1)) return {};
  return { [concurrencyMode === "tokens" ? "tokens" : "concurrency"]: Math.floor(most) };
}

/** What the bands' policies of one kind mean here. They must be the same, because there is one line. */
function policyOf(kind: "fairness" | "ordering", entries: readonly Entry[], resource: PickerResource): string | undefined {
  const { flowControl } = resource.document;
  const key = `${kind}PolicyRef` as const;
  const at = (["defaultPriorityBand", "defaultNegativePriorityBand"] as const).map(
    (name) => [["flowControl", name], flowControl?.[name]?.[key]] as const,
  );
  const listed = (flowControl?.priorityBands ?? []).map(
    (each, index) => [["flowControl", "priorityBands", index], each[key]] as const,
  );
  let first: string | undefined;
  for (const [path, name] of [...at, ...listed]) {
    if (name === undefined) continue;
    const meaning = meaningOf(name, kind, [...path, key], entries, resource);
    if (first !== undefined && meaning !== undefined && meaning !== first)
      resource.report([...path, key], { found: "another policy than that of the bands before it", wanted: "one for all bands" });
    first ??= meaning;
  }
  return first;
}

function ceilingOf(entries: readonly Entry[], resource: PickerResource): unknown {
  const name = resource.document.flowControl?.usageLimitPolicyPluginRef;
  if (name === undefined) return 1;
  const meaning = meaningOf(name, "ceiling", ["flowControl", "usageLimitPolicyPluginRef"], entries, resource);
  const given = entryNamed(name, entries)?.parameters;
  const parameters = isMapping(given) ? given : {};
  if (meaning === "static") return parameters["threshold"] ?? 1;
  return meaning === "holdback" ? parameters : (meaning ?? 1);
}

function meaningOf(
  name: string,
  kind: keyof typeof FLOW_POLICIES,
  path: Path,
  entries: readonly Entry[],
  { report }: PickerResource,
): string | undefined {
  const type = entryNamed(name, entries)?.type ?? name;
  const policies = FLOW_POLICIES[kind];
  if (Object.hasOwn(policies, type)) return policies[type];
  report(path, { found: quoted(name), wanted: `the name of a plugin of one of the types: ${Object.keys(policies).join(", ")}` });
  return undefined;
}

/** Only ceilings have parameters; the line checks those of its own. */
function checkPolicies(entries: readonly Entry[], { report }: PickerResource): void {
  for (const { type, parameters, path, role } of entries) {
    if (role !== "policy" || Object.hasOwn(FLOW_POLICIES.ceiling, type) || type === "program-aware-fairness") continue;
    if (isMapping(parameters) && Object.keys(parameters).length > 0)
      report([...path, "parameters"], { found: "parameters", wanted: "none: this policy takes none" });
  }
}

import { Problem } from "./problem.ts";
import type { Page } from "./render-page.ts";
import type { ReadSite } from "./site.ts";

/** Of the API group that horizontal pod autoscalers ask for metrics of other services. */
const GROUP = "/apis/external.metrics.k8s.io/v1beta1";
const GROUP_VERSION = "external.metrics.k8s.io/v1beta1";
/** The one metric that it has. */
const METRIC = "signalbox-wanted-replicas";
const VALUES = new RegExp(`^${GROUP}/namespaces/[^/]+/${METRIC}$`);
const SELECTED = /^(pool|model)={1,2}([\w.:/@-]*)$/;

interface Wanted {
  readonly wanted: number;
  readonly underWay: number;
  readonly work: number;
}

/** What the feature `scale` shows. */
interface ScaleDocument extends Wanted {
  readonly pool: string;
  readonly models: readonly (Wanted & { readonly model: string })[];
}

/** How many replicas are wanted: for KEDA's metrics-api scaler, and as an API server asks for it. Undefined for another path. */
export function scalePage(site: ReadSite, path: string): Page | undefined {
  const render = renderer(site, path);
  return render && { path, contentType: "application/json", render: (_view, query) => JSON.stringify(render(query)) };
}

function renderer(site: ReadSite, path: string): ((query: URLSearchParams) => object) | undefined {
  if (path === "/scale") return (query) => shown(site, query.get("model"));
  if (path === GROUP) return resources;
  if (VALUES.test(path)) return (query) => metricValues(site, query.get("labelSelector") ?? "");
  return undefined;
}

/** Throws Problem where the config does not have the section. */
function scaleOf({ router }: ReadSite): ScaleDocument {
  const { scale } = router.features.status() as { readonly scale?: ScaleDocument | null };
  if (scale) return scale;
  throw new Problem(404, "scale_off", 'Nobody counts how many replicas are wanted; add "scale: {}" to the spec of the Router.');
}

/** The pool, or one model of it: nobody has asked for one that is not listed. */
function shown(site: ReadSite, model: string | null): object {
  const scale = scaleOf(site);
  if (model === null) return scale;
  const found = scale.models.find((each) => each.model === model);
  return { pool: scale.pool, ...(found ?? { model, wanted: 0, underWay: 0, work: 0 }) };
}

function resources(): object {
  const verbs = ["get", "list"];
  const resource = { name: METRIC, singularName: "", namespaced: true, kind: "ExternalMetricValueList", verbs };
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: GROUP_VERSION, resources: [resource] };
}

/** As horizontal pod autoscalers read it; nothing for another pool. */
function metricValues(site: ReadSite, selector: string): object {
  const scale = scaleOf(site);
  const selected = labelsIn(selector);
  const isOurs = (selected["pool"] ?? scale.pool) === scale.pool;
  const model = selected["model"];
  const wanted = model === undefined ? scale.wanted : (scale.models.find((each) => each.model === model)?.wanted ?? 0);
  const timestamp = new Date(site.clock.wall()).toISOString().replace(/\.\d+Z$/, "Z");
  const metricLabels = { pool: scale.pool, ...(model !== undefined && { model }) };
  const item = { metricName: METRIC, metricLabels, timestamp, value: String(wanted) };
  return { kind: "ExternalMetricValueList", apiVersion: GROUP_VERSION, metadata: {}, items: isOurs ? [item] : [] };
}

function labelsIn(selector: string): Readonly<Record<string, string>> {
  const parts = selector === "" ? [] : selector.split(",");
  return Object.fromEntries(
    parts.map((part) => {
      const [, name, value] = SELECTED.exec(part.trim()) ?? [];
      if (name === undefined || value === undefined)
        throw new Problem(400, "bad_selector", "labelSelector wants pool=NAME, model=NAME, or both with a comma between them.");
      return [name, value];
    }),
  );
}

import { routersOfPools } from "./pool-sites.ts";
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
  if (path === "/scale") return (query) => shown(site, query);
  if (path === GROUP) return resources;
  if (VALUES.test(path)) return (query) => metricValues(site, query.get("labelSelector") ?? "");
  return undefined;
}

/** Of each pool whose config has the section; the router's own is the first. Throws Problem where none has. */
function scalesOf({ router }: ReadSite): readonly [ScaleDocument, ...ScaleDocument[]] {
  const [first, ...others] = [router, ...routersOfPools(router).values()].flatMap(({ features }) => {
    const { scale } = features.status() as { readonly scale?: ScaleDocument | null };
    return scale ? [scale] : [];
  });
  if (first !== undefined) return [first, ...others];
  const where = "the spec of the Router, or of a Pool";
  throw new Problem(404, "scale_off", `Nobody counts how many replicas are wanted; add "scale: {}" to ${where}.`);
}

/**
 * One pool, or one model of it: nobody has asked for one that is not listed. Where no pool is named it is the router's own, or the only
 * one, with the others below it.
 */
function shown(site: ReadSite, query: URLSearchParams): object {
  const scales = scalesOf(site);
  const [pool, model] = [query.get("pool"), query.get("model")];
  const named = pool ?? (scales.length === 1 ? scales[0].pool : site.router.config.pool);
  const scale = scales.find((each) => each.pool === named);
  if (scale === undefined && (pool !== null || model !== null)) throw notCounted(named, scales);
  if (model === null) {
    const others = pool === null ? scales.filter((each) => each !== scale) : [];
    return { ...scale, ...(others.length > 0 && { pools: others }) };
  }
  const found = scale!.models.find((each) => each.model === model);
  return { pool: named, ...(found ?? { model, wanted: 0, underWay: 0, work: 0 }) };
}

function notCounted(pool: string, scales: readonly ScaleDocument[]): Problem {
  const names = scales.map((each) => `"${each.pool}"`).join(", ");
  const message = `Nobody counts how many replicas the pool "${pool}" should have; ask with pool=NAME for one of ${names}.`;
  return new Problem(404, "scale_off", message);
}

function resources(): object {
  const verbs = ["get", "list"];
  const resource = { name: METRIC, singularName: "", namespaced: true, kind: "ExternalMetricValueList", verbs };
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: GROUP_VERSION, resources: [resource] };
}

/** As horizontal pod autoscalers read it: of all pools that are selected. */
function metricValues(site: ReadSite, selector: string): object {
  const { pool, model } = labelsIn(selector);
  const timestamp = new Date(site.clock.wall()).toISOString().replace(/\.\d+Z$/, "Z");
  const items = scalesOf(site).flatMap((scale) => {
    if (pool !== undefined && pool !== scale.pool) return [];
    const wanted = model === undefined ? scale.wanted : (scale.models.find((each) => each.model === model)?.wanted ?? 0);
    const metricLabels = { pool: scale.pool, ...(model !== undefined && { model }) };
    return [{ metricName: METRIC, metricLabels, timestamp, value: String(wanted) }];
  });
  return { kind: "ExternalMetricValueList", apiVersion: GROUP_VERSION, metadata: {}, items };
}

function labelsIn(selector: string): Readonly<Partial<Record<string, string>>> {
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

import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { counted } from "../../../core/report/number-text.ts";
import type { Scale } from "./scale.ts";

/** What `GET /scale` shows; null where the config does not have the section. */
export function scaleStatus(scale: Scale) {
  if (!scale.isOn) return null;
  const { pool, ready, waiting, room } = scale;
  const { wanted, underWay, work } = scale.wanted();
  return { pool, wanted, ready, underWay, waiting, work, room: Math.round(room * 10) / 10 || null, models: scale.byModel() };
}

type ScaleStatus = ReturnType<typeof scaleStatus>;

export function scaleLines({ scale = null }: { readonly scale?: ScaleStatus }): readonly string[] {
  if (scale === null) return [];
  const { wanted, ready, underWay, waiting, work } = scale;
  return [
    `scale: ${counted(wanted, "replica")} wanted, ${ready} ready; ${counted(underWay, "request")} under way, ${waiting} of them ${waiting === 1 ? "waits" : "wait"}; the traffic fills ${work} replicas`,
  ];
}

export function scaleMetrics(scale: Scale): readonly MetricFamily[] {
  if (!scale.isOn) return [];
  const { pool } = scale;
  const all = scale.wanted();
  // Clients may ask for any name where replicas load what they are asked for.
  const models = scale.byModel().filter(({ model }) => scale.isNamed(model));
  const gauge = (name: string, help: string, value: number): MetricFamily => {
    return { name, type: "gauge", help, labels: ["pool"], samples: [{ values: [pool], value }] };
  };
  const ofModels = (name: string, help: string, value: (each: (typeof models)[number]) => number): MetricFamily => {
    return {
      name,
      type: "gauge",
      help,
      labels: ["pool", "model"],
      samples: models.map((each) => ({ values: [pool, each.model], value: value(each) })),
    };
  };
  return [
    gauge("wanted_replicas", "Replicas that the pool should have for the last minutes' traffic.", all.wanted),
    gauge("scale_work_replicas", "Replicas that would be full of that traffic.", all.work),
    gauge("scale_under_way_requests", "Requests that have come and not ended, those that wait included.", all.underWay),
    gauge("scale_waiting_requests", "Those of them that no replica has yet.", scale.waiting),
    ofModels(
      "wanted_replicas_of_model",
      "Replicas that a model should have, as if it had replicas of its own.",
      ({ wanted }) => wanted,
    ),
    ofModels(
      "scale_under_way_requests_of_model",
      "Requests for a model that have come and not ended.",
      ({ underWay }) => underWay,
    ),
  ];
}

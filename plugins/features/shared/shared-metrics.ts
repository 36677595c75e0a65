import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { SharedView } from "./shared-view.ts";

/** Nothing where the router is alone. */
export function sharedMetrics(view: SharedView | undefined): readonly MetricFamily[] {
  if (view === undefined) return [];
  const { isUp, routers, messages, refused, facts, delayMs, apart } = view;
  const one = (name: string, type: "counter" | "gauge", help: string, value: number): MetricFamily => {
    return { name: `shared_${name}`, type, help, labels: [], samples: [{ values: [], value }] };
  };
  const by = (name: string, label: string, help: string, values: Readonly<Record<string, number>>): MetricFamily => {
    const samples = Object.entries(values).map(([key, value]) => ({ values: [key.replaceAll(" ", "-")], value }));
    return { name: `shared_${name}`, type: "counter", help, labels: [label], samples };
  };
  return [
    one("up", "gauge", "Whether the store by which routers agree can be used.", isUp ? 1 : 0),
    one("routers", "gauge", "Other routers that are heard.", routers.length),
    one("routers_apart", "gauge", "Routers that are heard and do not agree with this one; the warnings say why.", apart.length),
    one(
      "in_flight",
      "gauge",
      "Requests that other routers have in flight.",
      routers.reduce((sum, each) => sum + each.inFlight, 0),
    ),
    one("delay_seconds", "gauge", "How long this router's last message took to come back.", delayMs / 1000),
    by("messages_total", "direction", "Messages that were sent, heard of others, and lost on the way into the store.", {
      sent: messages.sent,
      heard: messages.heard,
      lost: messages.lost,
    }),
    by("messages_refused_total", "reason", "Messages that were not read.", refused),
    by("facts_total", "result", "Facts of other routers: read, unknown (of a newer release), and wrong.", { ...facts }),
    one("facts_dropped_total", "counter", "Facts of this router that did not fit into a message.", messages.dropped),
  ];
}

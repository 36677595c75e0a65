import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { GatedLine } from "./gate/gated-line.ts";
import type { Sessions } from "./sessions.ts";

/** How many sessions there are, and what becomes of them; never whose. Nothing where nobody looks for sessions. */
export function sessionMetrics(sessions: Sessions, line: GatedLine): readonly MetricFamily[] {
  if (sessions.settings === undefined) return [];
  const { counts, turns, pauses } = sessions;
  let underWay = 0;
  for (const session of sessions.all()) if (session.isBusy) underWay += 1;
  const one = (value: number) => [{ values: [], value }];
  return [
    {
      name: "sessions",
      type: "gauge",
      help: "Sessions that are known, by whether a turn of theirs is under way.",
      labels: ["state"],
      samples: [
        { values: ["under_way"], value: underWay },
        { values: ["idle"], value: sessions.size - underWay },
      ],
    },
    {
      name: "session_turns_waiting",
      type: "gauge",
      help: "Turns that wait for a place in a replica's cache.",
      labels: [],
      samples: one(line.size),
    },
    {
      name: "session_waits_total",
      type: "counter",
      help: "Turns that had to wait for a place in a replica's cache, by how it ended so far: late ones went on without one.",
      labels: ["end"],
      samples: [
        { values: ["late"], value: line.counts.late },
        { values: ["other"], value: line.counts.waited - line.counts.late },
      ],
    },
    {
      name: "session_turns_total",
      type: "counter",
      help: "Requests that are turns of sessions, by where the session's id was found.",
      labels: ["source"],
      samples: [...turns].map(([source, value]) => ({ values: [source], value })),
    },
    { name: "sessions_begun_total", type: "counter", help: "Sessions that began.", labels: [], samples: one(counts.begun) },
    {
      name: "sessions_forgotten_total",
      type: "counter",
      help: "Sessions that were forgotten: idle for too long, or pushed out by newer ones.",
      labels: ["reason"],
      samples: [
        { values: ["idle"], value: counts.idle },
        { values: ["pushed_out"], value: counts.pushedOut },
      ],
    },
    {
      name: "session_moves_total",
      type: "counter",
      help: "Turns that another replica served than the turn before, so that their prompt was computed again.",
      labels: [],
      samples: one(counts.moves),
    },
    {
      name: "session_pause_seconds",
      type: "histogram",
      help: "Seconds from the end of a turn to the next one.",
      labels: [],
      samples: [{ values: [], value: pauses }],
    },
  ];
}

import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { counted, whole } from "../../../core/report/number-text.ts";
import type { Stored } from "./stored.ts";

/** What is known, as JSON; null as long as nobody has stored or named anything. It has no ids. */
export function storedStatus({ holders, counts, questions }: Stored) {
  const { size, bytes } = holders;
  const isUsed = size > 0 || Object.values(counts).some((count) => count > 0);
  return isUsed ? { places: size, bytes, asked: questions.asked, ...counts } : null;
}

type StoredStatus = ReturnType<typeof storedStatus>;

export function storedLines({ stored = null }: { readonly stored?: StoredStatus }): readonly string[] {
  if (stored === null) return [];
  const { places, bytes, known, found, asked, nobodys, refused, gone } = stored;
  return [
    `stored: ${counted(places, "place")} known in ${whole(bytes)} bytes; ${counted(known, "request")} named one of them, ${found} another one that a replica had; ` +
      `${counted(asked, "question")} to all replicas, ${counted(nobodys, "request")} for what nobody has, ${refused} refused, ${gone} for a replica that is gone`,
  ];
}

export function storedMetrics({ holders, counts, questions }: Stored): readonly MetricFamily[] {
  const one = (value: number) => [{ values: [], value }];
  const each = (all: Readonly<Record<string, number>>) => Object.entries(all).map(([name, value]) => ({ values: [name], value }));
  return [
    {
      name: "stored_places",
      type: "gauge",
      help: "Stored responses, files, batches and conversations whose replica is known.",
      labels: [],
      samples: one(holders.size),
    },
    {
      name: "stored_bytes",
      type: "gauge",
      help: "Bytes of memory for those places.",
      labels: [],
      samples: one(holders.bytes),
    },
    {
      name: "stored_requests_total",
      type: "counter",
      help: "Requests that named something stored: its replica was known, or found by asking; nobody has it; it was unknown and refused; its replica is gone.",
      labels: ["result"],
      samples: each(counts),
    },
    {
      name: "stored_questions_total",
      type: "counter",
      help: "How often all replicas were asked who has an id.",
      labels: [],
      samples: one(questions.asked),
    },
    {
      name: "stored_places_forgotten_total",
      type: "counter",
      help: "Places that were forgotten: unused for too long, or pushed out by newer ones.",
      labels: ["reason"],
      samples: each({ expired: holders.forgotten.expired, pushed_out: holders.forgotten.pushedOut }),
    },
  ];
}

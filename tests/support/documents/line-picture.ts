import type { Waiting } from "../../../core/contract/admission.ts";
import { createPlugin, makeRoom, makeWaiting } from "../../../core/contract/test-kit.ts";
import fairQueue from "../../../plugins/admissions/fair-queue.ts";
import { lineFull, waitedTooLong } from "../../../plugins/features/admission/refusals.ts";
import { KEPT, REASONS } from "../../../plugins/features/admission/wait-reasons.ts";
import { mermaid } from "./made-part.ts";

/** The way of a request through the line in front of the pool, in the words of the log and with the codes that clients get. */
export function linePicture(): string {
  const reasons = [REASONS.full, REASONS.free, KEPT, `${REASONS.empty} (waitsForReplicas)`];
  const [full, late] = [lineFull(0), waitedTooLong(0)];
  return mermaid([
    "flowchart LR",
    '  came["a request has come"]',
    '  room{"has a replica room,<br>and nobody waits?"}',
    `  line["it waits in the line, because<br>${reasons.join(",<br>or ")}"]`,
    '  turn{"whose turn is it?<br><i>fair-queue</i>"}',
    '  sent["decide, and send it"]',
    `  full["${full.status} ${full.code}"]`,
    `  late["${late.status} ${late.code}"]`,
    "  came --> room",
    "  room -- yes --> sent",
    "  room -- no --> line",
    "  line -- a replica has room --> turn",
    "  turn --> sent",
    "  line -- the line is full, and it counts least --> full",
    "  line -- after maxWaitMs --> late",
  ]);
}

/** So many requests of each, in the order in which they came. */
const CAME = [
  ["low", "alice", 2],
  ["high", "alice", 3],
  ["high", "bob", 2],
] as const;

/** Who goes on in which order: what the plugin fair-queue does with some requests that wait, as a Mermaid diagram. */
export function turnPicture(): string {
  const line = createPlugin(fairQueue);
  let sinceMs = 0;
  const waiting = CAME.flatMap(([priority, tenant, count]) =>
    Array.from({ length: count }, (_, index) =>
      makeWaiting({
        ...{ id: `${tenant}, ${priority} priority: request ${index + 1}`, tenant },
        ...{ priority: priority === "high" ? 10 : 0, sinceMs: sinceMs++ },
      }),
    ),
  );
  for (const request of waiting) line.join(request);
  const order = waiting.map(() => line.take(makeRoom())!);
  const name = (request: Waiting) => `r${waiting.indexOf(request)}`;
  return mermaid([
    "flowchart LR",
    '  subgraph came ["they came in this order"]',
    "    direction TB",
    ...waiting.map((request) => `    ${name(request)}["${request.id}"]`),
    `    ${waiting.map(name).join(" ~~~ ")}`,
    "  end",
    '  subgraph gone ["they go on in this order"]',
    "    direction TB",
    ...order.map((request, place) => `    ${name(request)}o["${place + 1}. ${request.id}"]`),
    `    ${order.map((request) => `${name(request)}o`).join(" --> ")}`,
    "  end",
    "  came --> gone",
  ]);
}

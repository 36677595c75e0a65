import { seededRandom } from "../../../core/contract/test-kit.ts";
import { guardSchema } from "../../../plugins/features/rollouts/guard-schema.ts";
import { RolloutGuard } from "../../../plugins/features/rollouts/rollout-guard.ts";
import { targetShape } from "../../../plugins/features/rollouts/rollout-shapes.ts";
import { mermaid } from "./made-part.ts";

const REQUESTS = 3_000;
const [LEFT, TOP, WIDTH, HEIGHT] = [70, 60, 560, 200] as const;
/** The shares of the needed evidence that the scale begins and ends with; it is logarithmic. */
const [LEAST, MOST] = [0.01, 2] as const;
const VERSIONS = [
  { errorRate: 0.01, color: "#1d6b61", text: "fails 1 %, as the old one" },
  { errorRate: 0.1, color: "#a63520", text: "fails 10 %: its guard stops it" },
] as const;

interface Judged {
  /** Requests to both versions, and the share of the needed evidence then. */
  readonly points: readonly (readonly [requests: number, evidence: number])[];
  readonly stoppedAt: number | undefined;
}

/** A guard as it is without settings of its own, over a split 90/10 whose old version fails one request in a hundred. */
function judged(errorRate: number): Judged {
  const spec = guardSchema.parse({ rule: "food-review", target: "v2", worseBy: { errorRate: 0.02 } });
  const place = { namespace: "default", resource: "food-review", index: 0 };
  const worseBy = { errorRate: 0.02, ttft: undefined };
  const guard = new RolloutGuard({ ...spec, worseBy, name: "", against: "v1", place, stickyHeader: "", isAnnotation: false });
  const random = seededRandom(1);
  const points: (readonly [number, number])[] = [];
  for (let requests = 1; requests <= REQUESTS; requests++) {
    const isTarget = requests % 10 === 0;
    const verdict = random() < (isTarget ? errorRate : 0.01) ? "failed" : "served";
    const found = guard.judge({ isTarget, verdict, ttftMs: Number.NaN, session: "" }, 0);
    const [test] = guard.shown("").tests;
    if (isTarget) points.push([requests, test!.evidence / test!.needed]);
    if (found !== undefined) return { points, stoppedAt: requests };
  }
  return { points, stoppedAt: undefined };
}

/** What the guard itself finds as requests come, as SVG. */
export function guardPicture(): string {
  const x = (requests: number) => LEFT + Math.round((WIDTH * requests) / REQUESTS);
  const shareAt = (evidence: number) => Math.log(Math.min(MOST, Math.max(LEAST, evidence)) / LEAST) / Math.log(MOST / LEAST);
  const y = (evidence: number) => TOP + Math.round(HEIGHT * (1 - shareAt(evidence)));
  const label = (at: number, text: string, more = "") =>
    `<text x="${LEFT - 8}" y="${at + 4}" text-anchor="end"${more}>${text}</text>`;
  const lines = VERSIONS.flatMap(({ errorRate, color, text }, index) => {
    const { points, stoppedAt } = judged(errorRate);
    const [lastX, lastY] = [x(points.at(-1)![0]), y(points.at(-1)![1])];
    const path = points.map(([requests, evidence]) => `${x(requests)},${y(evidence)}`).join(" ");
    const stop = `<circle cx="${lastX}" cy="${lastY}" r="5" fill="${color}"/><text x="${lastX + 10}" y="${lastY + 4}" fill="${color}">weight 0 after ${stoppedAt} requests, ${Math.floor((stoppedAt ?? 0) / 10)} of them to the new version</text>`;
    return [
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="${path}"/>`,
      `<text x="${LEFT + 290 * index}" y="${TOP - 32}" fill="${color}">— new version ${text}</text>`,
      ...(stoppedAt === undefined ? [] : [stop]),
    ];
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="660" height="320" viewBox="0 0 660 320" font-family="system-ui, sans-serif" font-size="12">`,
    "<title>What a guard finds in a canary, request by request</title>",
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...[1, 0.1, 0.01].map((share) => `<path d="M${LEFT},${y(share)}h${WIDTH}" stroke="${share === 1 ? "#1d2528" : "#dce1df"}"/>`),
    ...[1, 0.1, 0.01].map((share) => label(y(share), share === 1 ? "stops it" : `${share * 100} %`)),
    ...[0, 1_000, 2_000, 3_000].map((each) => `<text x="${x(each)}" y="280" text-anchor="middle">${each}</text>`),
    `<text x="${LEFT}" y="304">requests to both versions, one in ten to the new one; upwards: evidence that it is worse</text>`,
    ...lines,
    "</svg>",
  ].join("\n")}\n`;
}

type State = "watching" | "stopped" | "blocked" | "idle";

/** What leads from one state of a guard to another. */
const CHANGES: readonly (readonly [from: State | "[*]", to: State, why: string])[] = [
  ["[*]", "watching", "both targets have a weight above 0"],
  ["[*]", "idle", "one of them has the weight 0"],
  ["idle", "watching", "it gets a weight above 0"],
  ["watching", "idle", "it gets the weight 0"],
  ["watching", "stopped", "the target is worse, and gets the weight 0"],
  ["watching", "blocked", "the target is worse, but no ready replica serves the other one"],
  ["blocked", "stopped", "a replica serves the other one again"],
  ["blocked", "watching", "the target is no longer worse"],
  ["stopped", "watching", "signalbox revert, or another weight in the file"],
];

/** The states of a guard as a Mermaid diagram. Throws an Error if it does not show each of them. */
export function guardStates(): string {
  const states = targetShape.guard.unwrap().shape.state.options;
  const shown = new Set(CHANGES.map(([, to]) => to));
  if ([...shown].sort().join() !== states.toSorted().join())
    throw new Error("CHANGES of guard-picture.ts has other states than a guard: write each of them.");
  return mermaid(["stateDiagram-v2", ...CHANGES.map(([from, to, why]) => `  ${from} --> ${to}: ${why}`)]);
}

/**
 * What the metrics cost: nanoseconds for each ended request, and milliseconds for one page of a pool with very many series.
 *
 *     node --import tsx tests/bench/metrics.ts     deno run -A tests/bench/metrics.ts     bun tests/bench/metrics.ts
 */
import type { Outcome } from "../../core/contract/outcome.ts";
import { createPlugin, makeEndpoint, makeRequest } from "../../core/contract/test-kit.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../core/test-kit/records.ts";
import requestMetrics from "../../plugins/observers/request-metrics.ts";
import { makeView } from "../support/view.ts";

const SIZES = [
  { endpoints: 8, targets: 3 },
  { endpoints: 200, targets: 50 },
];
/** Rounds of requests. The quick tenth of them counts: in the others the process waited for a processor. */
const ROUNDS = 400;
const ROUND = 2_000;
const PAGES = 40;

/** Streamed chats of every target at every endpoint. */
function outcomesOf(endpointCount: number, targetCount: number): readonly Outcome[] {
  const targets = Array.from({ length: targetCount }, (_, index) => `family/model-${index}`);
  const endpoints = Array.from({ length: endpointCount }, (_, slot) => makeEndpoint(slot, { models: targets }));
  return endpoints.flatMap(({ name }, slot) =>
    targets.map((target, index) =>
      makeOutcome({
        request: makeRequest({ model: target, target, isStream: true }),
        decision: makeDecision({ endpoints, model: target, target, rule: index % 2 === 0 ? "" : "canary/0" }),
        attempts: [makeAttempt(name, 200)],
        durationMs: 800 + ((slot * 37 + index * 11) % 900),
        firstByteMs: 20 + ((slot * 13 + index * 7) % 300),
        usage: { promptTokens: 900, outputTokens: 120, cachedTokens: 700 },
        predictedTokens: 640,
        outputTokens: 120,
        finishReason: "stop",
      }),
    ),
  );
}

for (const { endpoints, targets } of SIZES) {
  const metrics = createPlugin(requestMetrics, {});
  const outcomes = outcomesOf(endpoints, targets);
  const view = makeView(outcomes[0]?.decision?.endpoints);
  const roundNs = () => {
    const from = performance.now();
    for (let i = 0; i < ROUND; i++) metrics.finished(outcomes[i % outcomes.length]!);
    return ((performance.now() - from) * 1e6) / ROUND;
  };
  const rounds = Array.from({ length: ROUNDS }, roundNs).sort((a, b) => a - b);
  const pageMs = () => {
    const from = performance.now();
    const text = metrics.pages?.[0]?.render(view, new URLSearchParams()) ?? "";
    const bytes = new TextEncoder().encode(text).length;
    return { ms: performance.now() - from, bytes };
  };
  const pages = Array.from({ length: PAGES }, pageMs).sort((a, b) => a.ms - b.ms);
  const page = pages[PAGES / 10]!;
  console.log(
    `${endpoints} endpoints x ${targets} targets: ${(rounds[ROUNDS / 10] ?? 0).toFixed(0)} ns per request; a page of ` +
      `${(page.bytes / 1024).toFixed(0)} KiB in ${page.ms.toFixed(1)} ms (median ${(pages[PAGES / 2]?.ms ?? 0).toFixed(1)} ms)`,
  );
  metrics.dispose?.();
}

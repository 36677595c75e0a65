import { defineObserver, z } from "signalbox/plugin";
import { sentOf } from "./model.ts";

/** Teaches the model of the scorer that sent the request what became of it. */
export default defineObserver({
  type: "latency-learner",
  summary: "Teaches the example's latency predictor from streamed responses.",
  options: z.strictObject({}),
  create: () => ({
    finished({ request, status, attempts, times, ending, outputTokens }) {
      // Only streams show the first token; a prompt of unknown length, or a failure, says nothing of others.
      if (request === undefined || !request.isStream || request.promptTokens === 0 || status < 200 || status > 299) return;
      const sent = sentOf(request);
      const last = attempts.at(-1);
      if (sent === undefined || last?.endpoint !== sent.endpoint.name) return;
      const ttftMs = times.firstByteMs - last.startedMs;
      if (!(ttftMs > 0)) return;
      const isWhole = ending === "complete" && outputTokens >= 2;
      const tpotMs = isWhole ? (times.endMs - times.firstByteMs) / (outputTokens - 1) : Number.NaN;
      sent.model.learn(sent.endpoint, sent.expectedMs, ttftMs, tpotMs);
    },
  }),
});

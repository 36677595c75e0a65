import { flag, flags } from "./command-line.ts";
import { leftOut, noMeaning } from "./finding.ts";
import { flagSource, isProgram } from "./flag-source.ts";
import { needSelector, SHARED_FLAGS } from "./router-flags.ts";
import { PAIRS } from "./taking.ts";

/** The router of the vLLM project (vllm-project/router). */
export const vllmRouter = flagSource({
  kind: "vllm-router",
  title: "vllm-router",
  isCommand: (words) =>
    isProgram(words, /^vllm[-_]router/) && !words.some((word) => /^--(routing-logic|static-backends|static-models)\b/.test(word)),
  usual: { host: "127.0.0.1", port: 30_000 },
  finish: needSelector,
  table: {
    ...SHARED_FLAGS,
    ...flags(["--vllm-discovery-address", "--kv-connector", "--bootstrap-port-annotation"], flag(leftOut(PAIRS))),
    "--load-monitor-interval": flag(noMeaning("the router counts what it has sent, and reads the replicas' metrics each second")),
  },
});

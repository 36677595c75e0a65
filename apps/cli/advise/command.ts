import { type Command, JSON_SWITCH } from "../../../config/command.ts";
import { ENGINE_TIMES } from "../../lab/engine/engine-times.ts";

const DETAILS = `LOG is the access log of a router whose access-log plugin has the parameter "replay: true" (.gz too), or another trace that
signalbox simulate reads. Its last hour is replayed on modelled replicas: as many as it names, one more, and one fewer. The
numbers are those of the model: give it the speed and the cache of your replicas, or believe the order alone.

`;

/** What it does is loaded when it is called. */
export const ADVISE: Command = {
  name: "advise",
  group: "look",
  words: "LOG [-f CONFIG] [--replicas N] ...",
  summary:
    "Says what one more replica would save of the time to the first token, and what one fewer would cost, by recorded traffic.",
  details: DETAILS,
  switches: [
    { name: "file", short: "f", value: "FILE", isRepeated: true, meaning: "the router's config (default: the default config)" },
    { name: "replicas", value: "N", meaning: "how many there are (default: those that the log names)" },
    { name: "hours", value: "H", default: "1", meaning: "how much of the log's end counts" },
    { name: "kv-tokens", value: "N", default: String(ENGINE_TIMES.kvTokens), meaning: "tokens that a replica's KV cache holds" },
    {
      name: "prefill-tps",
      value: "N",
      default: String(ENGINE_TIMES.prefillTokensPerS),
      meaning: "prompt tokens that a replica computes in a second",
    },
    { name: "seeds", value: "N", default: "3", meaning: "runs each with this many seeds and takes the mean" },
    JSON_SWITCH,
  ],
  run: async (input, registry) => (await import("./run-advice.ts")).advise(input, registry),
};

import { type Command, JSON_SWITCH } from "../../../config/command.ts";

const DETAILS = `TRACE is what signalbox simulate reads: an access log (of the plugin access-log, best with "replay: true"), or lines like
Mooncake's. Prompts are not recorded, so they are made up: as long as they were, and alike where they began alike. The requests
cost what requests cost: send them to a router over mock replicas, or over real ones that have nothing else to do.

`;

/** What it does is loaded when it is called. */
export const REPLAY: Command = {
  name: "replay",
  group: "move in",
  words: "TRACE",
  summary: "Sends the requests of a recorded log to a running router, at their pace, and says how they fared.",
  details: DETAILS,
  switches: [
    { name: "url", value: "URL", default: "http://127.0.0.1:8080", meaning: "where clients connect" },
    { name: "speed", value: "X", default: "1", meaning: "so many times as fast as it was recorded" },
    { name: "from", value: "MINUTE", default: "0", meaning: "where to begin, in minutes of the trace" },
    { name: "minutes", value: "N", meaning: "how much of it to send (default all)" },
    { name: "connections", value: "N", default: "256", meaning: "most requests under way; beyond it they are sent late" },
    { name: "timeout", value: "SECONDS", default: "300", meaning: "gives a request up that hears nothing for so long" },
    { name: "model", value: "NAME", meaning: "asks for this model (default as recorded, else the first that the router lists)" },
    { name: "header", value: "K:V", isRepeated: true, meaning: "a header for each request" },
    { name: "key-file", value: "FILE", meaning: "holds the key that a client shows" },
    JSON_SWITCH,
  ],
  run: async (input) => (await import("./run-replay.ts")).replayCommand(input),
};

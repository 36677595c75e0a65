import type { Command, Switch } from "../../../config/command.ts";
import { ENGINE_TIMES } from "../../lab/engine/engine-times.ts";
import { STARTUP_S } from "../../lab/simulate/faults.ts";

const DETAILS = `Every request is decided by the router's own code and the config's plugins. Shows the share of cached prompt tokens and the
time to first token. Without -f the default config runs.

TRACE is a file of lines like Mooncake's open traces (timestamp in ms, input_length, output_length, hash_ids), or the
access log of a router whose access-log plugin has the parameter "replay: true"; both may be compressed (.gz).
Lines with session and think_ms (milliseconds from the end of the turn before), in place of the timestamp, are a closed
loop: a turn comes so long after the one before has ended. So do log lines that name a session.

`;

const FAULT = `N:KIND[:FROM[-UNTIL]]: what goes wrong with the Nth replica, and when, in seconds of the trace
(default all the time). Kinds:
  error         responds to every new request with 500 at once
  hang          takes requests and sends nothing
  slow:FACTOR   takes FACTOR times as long
  flap:SECONDS  so long error, so long none, and so on
  restart       at FROM loses its cache and all under way; is back at UNTIL, or ${STARTUP_S} s later
With faults, and only then, the config's ejection, retries and time limits count. A replica
passes its probes unless it restarts.`;

const KV_TOKENS = String(ENGINE_TIMES.kvTokens);
const PREFILL_TPS = String(ENGINE_TIMES.prefillTokensPerS);
const TRANSFER_MS = String(ENGINE_TIMES.transferMs);
const TRANSFER_TPS = String(ENGINE_TIMES.transferTokensPerS);

const SWITCHES: readonly Switch[] = [
  { name: "file", short: "f", value: "FILE", isRepeated: true, meaning: "a config to simulate; several run side by side" },
  { name: "replicas", value: "N", meaning: "how many replicas (default 8, or those that a log names)" },
  {
    name: "routers",
    value: "N",
    default: "1",
    meaning: "how many routers, which get the requests in turn; they agree where the config has spec.shared",
  },
  { name: "log-delay", value: "MS", default: "1", meaning: "how long their messages to each other take" },
  { name: "log-loss", value: "SHARE", default: "0", meaning: "the part of those messages that is lost" },
  {
    name: "events",
    meaning:
      "replicas publish what their caches hold, and report cached tokens; configs with spec.kvEvents follow (without -f: beside the default)",
  },
  { name: "events-delay", value: "MS", default: "5", meaning: "how long these events take to the router" },
  {
    name: "events-loss",
    value: "SHARE",
    default: "0",
    meaning: "the part of their batches that is lost; the router asks for it again",
  },
  {
    name: "max-loras",
    value: "N",
    default: "0",
    meaning: "the trace's models are adapters, of which a replica runs N at the same time; 0: each replica has them all",
  },
  {
    name: "max-cpu-loras",
    value: "N",
    default: "0",
    meaning: "adapters that a replica keeps in its host's memory; 0: as many as it runs",
  },
  { name: "adapter-cold-ms", value: "MS", default: "300", meaning: "how long a replica loads an adapter from its disk" },
  { name: "adapter-warm-ms", value: "MS", default: "30", meaning: "the same from its host's memory" },
  { name: "kv-tokens", value: "N", default: KV_TOKENS, meaning: "tokens that a replica's KV cache holds" },
  { name: "prefill-tps", value: "N", default: PREFILL_TPS, meaning: "prompt tokens that a replica computes in a second" },
  {
    name: "prefill",
    value: "N",
    meaning: "the first N replicas compute prompts for the others (spec.disaggregation; default: as the config's labels say)",
  },
  {
    name: "advise",
    meaning: "how many replicas should: shows every number from 0 on, and which has most requests within --ttft and --tpot",
  },
  { name: "transfer-ms", value: "MS", default: TRANSFER_MS, meaning: "fixed part of a prompt's transfer to another replica" },
  { name: "transfer-tps", value: "N", default: TRANSFER_TPS, meaning: "prompt tokens that are transferred in a second" },
  {
    name: "speeds",
    value: "A,B,...",
    meaning: "speed of each replica: 1 is as above, 0.5 takes twice as long (default 1 for all)",
  },
  { name: "slow", value: "N:SPEED", isRepeated: true, meaning: "the same for the Nth replica only" },
  { name: "fault", value: "FAULT", isRepeated: true, meaning: FAULT },
  {
    name: "sessions-per-replica",
    value: "N",
    meaning: "keeps so many of the trace's sessions under way: when one ends, another begins (default: each once, when it began)",
  },
  { name: "hours", value: "H", meaning: "how long they go on (default 2)" },
  { name: "warm-up-hours", value: "H", meaning: "the part of it that is not measured (default a quarter)" },
  { name: "time-scale", value: "X", default: "1", meaning: "multiplies the times between requests: below 1 means more load" },
  { name: "prompt-scale", value: "X", default: "1", meaning: "prompts are X times as long" },
  {
    name: "token-error",
    value: "X",
    default: "0",
    meaning: "largest error of the router's token counts: 0.3 means up to 30 % too many or too few",
  },
  {
    name: "images",
    value: "SHARE",
    default: "0",
    meaning: "puts an image at the end of this share of prompts: many bytes, few tokens",
  },
  { name: "images-as-text", meaning: "the router takes their data for text, as one that knows no images does" },
  {
    name: "ttft",
    value: "MS,...",
    meaning: "requests ask for their first token within MS milliseconds (x-llm-d-slo-ttft-ms); several: in turn",
  },
  { name: "tpot", value: "MS,...", meaning: "the same for each further token, on average (x-llm-d-slo-tpot-ms)" },
  { name: "seed", value: "N", default: "1", meaning: "first random seed" },
  { name: "seeds", value: "N", default: "1", meaning: "runs each config with this many seeds and shows the mean" },
  {
    name: "exact",
    meaning: 'adds the row "exact state": the default config with the replicas\' true caches, queues and speeds',
  },
  {
    name: "explain-losses",
    meaning: "shows what worse picks cost, and by which wrong belief of the router (docs/simulate.md)",
  },
  { name: "json", meaning: "prints the results as JSON" },
  { name: "save", value: "FILE", meaning: "writes the results as JSON" },
  {
    name: "svg",
    value: "FILE",
    meaning: "draws which share of requests has its first token after how long, a curve for each config",
  },
];

/** What it does is loaded when it is called. */
export const SIMULATE: Command = {
  name: "simulate",
  group: "move in",
  words: "TRACE... [-f CONFIG]... [--replicas 8] ...",
  summary: "Replays recorded traffic against modelled replicas, to compare configs.",
  details: DETAILS,
  switches: SWITCHES,
  run: async (input, registry) => (await import("./run-simulation.ts")).simulate(input, registry),
};

import { type Command, JSON_SWITCH } from "../../config/command.ts";
import { sectionFeatures } from "../../config/feature.ts";
import type { Registry } from "../../config/plugins/instances.ts";
import { ADVISE } from "./advise/command.ts";
import { IMPORT } from "./import/command.ts";
import { PLUGIN_COMMANDS } from "./plugin-commands.ts";
import { REPLAY } from "./replay/command.ts";
import { SESSIONS } from "./sessions/command.ts";
import { SIMULATE } from "./simulate/command.ts";
import { ADMIN, ADMIN_URL, FILES, FOR, GRACE, LISTEN, REASON, RULE, WATCH, WRITE } from "./switches.ts";

/** Every command: the program's own, and those that features bring. */
export function commandsOf(registry: Registry): readonly Command[] {
  return [...OWN, ...sectionFeatures(registry).flatMap(({ commands = [] }) => commands)];
}

/** Their modules are loaded only when they are called. */
const OWN: readonly Command[] = [
  {
    name: "start",
    group: "run",
    words: "[URL...]",
    summary:
      "Starts the router for the replicas at the URLs, or with the config files. Without either it reads signalbox.yaml (or .yml) in this folder; without that it starts a demo pool of three mock replicas.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them; - for the standard input" },
      ...LISTEN,
      { name: "workers", value: "N", meaning: "so many processes share the port and act as one router; auto: one on each core" },
    ],
    run: async (input, registry) => (await import("./start/workers/start-workers.ts")).startWorkers(input, registry),
  },
  {
    name: "epp",
    group: "run",
    words: "[URL...]",
    summary:
      "Runs as the endpoint picker of a gateway (Envoy's ext_proc, Gateway API Inference Extension), with the same config: the gateway sends the requests, the router says where to.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them; - for the standard input" },
      { name: "host", value: "ADDRESS", meaning: "where the gateway connects (default 127.0.0.1)" },
      { name: "grpc-port", value: "N", meaning: "the port for the gateway (default 9002)" },
      { name: "admin-port", value: "N", meaning: "the port of the status page and the API (default 9090)" },
    ],
    run: async (input, registry) => (await import("./start/epp.ts")).epp(input, registry),
  },
  {
    name: "check",
    group: "run",
    words: "-f FILE|DIR... [URL...]",
    summary: "Reads config files and lists every problem in them, and what is probably a mistake.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them; - for the standard input" },
      { name: "strict", meaning: "warnings count as problems" },
      JSON_SWITCH,
    ],
    run: async (input, registry) => (await import("./commands/config.ts")).check(input, registry),
  },
  {
    name: "status",
    group: "look",
    words: "[--watch [SECONDS]]",
    summary: "Shows the replicas, models and rewrites of a running router.",
    switches: [
      ...ADMIN,
      WATCH,
      { name: "all", meaning: "every replica of a large pool, instead of the first 50 (the worst are first)" },
    ],
    run: async (input, registry) => (await import("./commands/status.ts")).status(input, registry),
  },
  {
    name: "top",
    group: "look",
    words: "[SECONDS]",
    summary: "Shows the replicas as a table, drawn anew every 2 seconds until q or Ctrl-C; once, if the output is no terminal.",
    switches: [
      ...ADMIN_URL,
      {
        name: "sort",
        value: "KEY",
        meaning: "name (default; those out of use first), inflight, waiting, kv, requests, errors, ttft, hits or tokens",
      },
    ],
    run: async (input, registry) => (await import("./commands/top.ts")).top(input, registry),
  },
  {
    name: "explain",
    group: "look",
    words: "REQUEST_ID | -f BODY",
    summary:
      "Shows why a request went to its replica (the id is in the x-request-id header of its response), or where a request with this body would go now: it is not sent and counts nowhere.",
    switches: [
      ...ADMIN,
      { name: "file", short: "f", value: "BODY", meaning: "a file with a request's body; - for the standard input" },
      { name: "path", value: "PATH", meaning: "with -f: the path of the request (default /v1/chat/completions)" },
      { name: "header", value: "K:V", isRepeated: true, meaning: "with -f: a header of the request" },
      { name: "snapshot", value: "FILE", meaning: "with -f: facts that signalbox facts saved, instead of a router's" },
      { name: "config", value: "FILE", isRepeated: true, meaning: "with --snapshot: config files (default signalbox.yaml here)" },
    ],
    run: async (input, registry) => (await import("./commands/explain.ts")).explain(input, registry),
  },
  {
    name: "facts",
    group: "look",
    words: "",
    summary: "Prints what the router's decisions read now, as JSON for explain --snapshot: no prompts, no headers, no keys.",
    switches: ADMIN_URL,
    run: async (input) => (await import("./commands/get.ts")).facts(input),
  },
  {
    name: "tail",
    group: "look",
    words: "",
    summary: "Prints each decision as its request ends, until Ctrl-C; connects again when the router restarts.",
    switches: [
      ...ADMIN,
      { name: "model", value: "NAME", meaning: "only requests for this model, or sent on under this name" },
      { name: "status", value: "LIST", meaning: "only these, such as 502, 5xx or 429,5xx" },
      { name: "endpoint", value: "NAME", meaning: "only requests that were tried there" },
      { name: "slow", value: "MS", meaning: "only requests that took at least so long, such as 2000 or 2s" },
      { name: "explain", meaning: "prints the whole explanation of each" },
    ],
    run: async (input, registry) => (await import("./commands/tail.ts")).tail(input, registry),
  },
  {
    name: "apply",
    group: "change",
    words: "-f FILE|DIR...",
    summary: "Creates the rewrites in the files, or replaces those of the same name, in a running router.",
    switches: [
      ...ADMIN,
      { ...FILES, meaning: "a file with InferenceModelRewrite documents, or a folder; - for the standard input" },
      WRITE,
      FOR,
    ],
    run: async (input) => (await import("./commands/apply.ts")).apply(input),
  },
  {
    name: "weights",
    group: "change",
    words: "REWRITE TARGET=WEIGHT...",
    summary: "Changes weights of a rewrite; targets that are not named keep theirs.",
    switches: [...ADMIN, RULE, WRITE, FOR],
    run: async (input) => (await import("./commands/rewrites.ts")).weights(input),
  },
  {
    name: "delete",
    group: "change",
    words: "rewrite NAME",
    summary: "Deletes a rewrite of a running router.",
    switches: [...ADMIN, WRITE, FOR],
    choices: ["rewrite"],
    run: async (input) => (await import("./commands/rewrites.ts")).deleteRewrite(input),
  },
  {
    name: "revert",
    group: "change",
    words: "rewrite NAME",
    summary: "Drops what was changed in a rewrite beside its file: the file applies again.",
    switches: ADMIN,
    choices: ["rewrite"],
    run: async (input) => (await import("./commands/rewrites.ts")).revertRewrite(input),
  },
  {
    name: "split-test",
    group: "look",
    words: "MODEL|REWRITE",
    summary:
      "Sends requests for a model, counts which target served each, names every unexpected one and compares the shares with the weights.",
    switches: [
      ...ADMIN,
      { name: "requests", value: "N", meaning: "how many requests to send, one after the other (default 20)" },
      { name: "path", value: "PATH", meaning: "the API to call (default /v1/chat/completions)" },
      { name: "url", value: "URL", meaning: "where clients connect (default: as the router says)" },
    ],
    run: async (input) => (await import("./commands/split-test.ts")).splitTest(input),
  },
  {
    name: "get",
    group: "look",
    words: "rewrites|endpoints|config",
    summary: "Shows what a running router has, for people and, with --json, for programs.",
    switches: ADMIN,
    choices: ["rewrites", "endpoints", "config"],
    run: async (input, registry) => (await import("./commands/get.ts")).get(input, registry),
  },
  {
    name: "drain",
    group: "change",
    words: "ENDPOINT",
    summary: "Gives an endpoint no new requests; those under way finish. The status says when it is empty.",
    switches: [...ADMIN, REASON, FOR, GRACE],
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "drain"),
  },
  {
    name: "cordon",
    group: "change",
    words: "ENDPOINT",
    summary: "Gives an endpoint no new requests but those for a model that no available one serves.",
    switches: [...ADMIN, REASON, FOR],
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "cordon"),
  },
  {
    name: "undrain",
    group: "change",
    words: "ENDPOINT",
    summary: "Ends a drain or a cordon.",
    switches: ADMIN,
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "undrain"),
  },
  {
    name: "adapters",
    group: "change",
    words: "[load|unload NAME]",
    summary: "Shows which replicas have which adapters, or has replicas load or unload one.",
    switches: [
      ...ADMIN,
      { name: "path", value: "PATH", meaning: "where replicas find the adapter (default: where they find adapters by name)" },
      { name: "endpoint", value: "NAME", meaning: "only at this endpoint (default: at all in service)" },
      { name: "pool", value: "NAME", meaning: "only in this pool (default: in all)" },
    ],
    choices: ["load", "unload"],
    run: async (input) => (await import("./commands/adapters.ts")).adapters(input),
  },
  SESSIONS,
  {
    name: "reload",
    group: "change",
    words: "",
    summary: "Lets a running router read its files again. The next config runs whole or not at all.",
    switches: ADMIN,
    run: async (input) => (await import("./commands/operate.ts")).reload(input),
  },
  {
    name: "config",
    group: "change",
    words: "print [--effective] | fmt FILE... | history | rollback [GENERATION]",
    summary:
      "Shows a config without its secrets (print), formats files (fmt; comments stay), lists the last configs of a running router (history), or lets an earlier one run again (rollback; default: the one before).",
    switches: [
      ...ADMIN,
      { ...FILES, meaning: "prints these files instead of what a router runs with" },
      { name: "effective", meaning: "with every default, and where each value comes from" },
      { name: "check", meaning: "fmt: changes nothing; exit code 1 if a file is not formatted" },
      { name: "write", meaning: "rollback: gives the config files the texts that they had then" },
    ],
    choices: ["print", "fmt", "history", "rollback"],
    run: async (input, registry) => (await import("./commands/config.ts")).config(input, registry),
  },
  IMPORT,
  REPLAY,
  {
    name: "mock",
    group: "run",
    words: "[--port N] [--model NAME] [--adapters a,b] ...",
    summary: "Starts one mock replica.",
    switches: [],
    isOnItsOwn: true,
    run: async (input) => (await import("./commands/mock.ts")).mock(input.words, input.asCalled),
  },
  SIMULATE,
  ADVISE,
  ...PLUGIN_COMMANDS,
  {
    name: "completion",
    group: "run",
    words: "bash|zsh|fish",
    summary: 'Prints completions for a shell; for bash: eval "$(signalbox completion bash)".',
    switches: [],
    choices: ["bash", "zsh", "fish"],
    run: async (input, registry) => (await import("./commands/completion.ts")).completion(input, commandsOf(registry)),
  },
  {
    name: "version",
    group: "run",
    words: "",
    summary: "Shows the version of the program and of the runtime.",
    switches: [JSON_SWITCH],
    run: async (input) => (await import("./commands/version.ts")).version(input),
  },
];

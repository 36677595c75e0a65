import { type Command, DEFAULT_ADMIN_URL, type Switch } from "./frame/command.ts";
import { SIMULATE_DETAILS, SIMULATE_SWITCHES } from "./simulate/simulate-switches.ts";

const ADMIN_URL: readonly Switch[] = [
  { name: "admin", value: "URL", meaning: `the router's admin port (default: $SIGNALBOX_ADMIN, else ${DEFAULT_ADMIN_URL})` },
  { name: "token-file", value: "FILE", meaning: "holds the token for the admin port (default: $SIGNALBOX_ADMIN_TOKEN)" },
];
const JSON_SWITCH: Switch = { name: "json", meaning: "prints JSON" };
const ADMIN: readonly Switch[] = [...ADMIN_URL, JSON_SWITCH];

const FOR: Switch = { name: "for", value: "TIME", meaning: "when it ends by itself, such as 90s or 2h (default: never)" };
const REASON: Switch = { name: "reason", value: "TEXT", meaning: "why; the status and the log show it" };
const WRITE: Switch = { name: "write", meaning: "writes it into the file that the rewrite comes from; comments stay" };
const RULE: Switch = { name: "rule", value: "N", meaning: "index of the rule, where the rewrite has several" };
const GRACE: Switch = { name: "grace", value: "TIME", meaning: "how long its sessions go on" };
const FILES: Switch = { name: "file", short: "f", value: "FILE", isRepeated: true, meaning: "a file, or a folder of files" };
const WATCH: Switch = { name: "watch", meaning: "draws it anew every so many seconds (default 2), until Ctrl-C" };

/** Every command. Their modules are loaded only when they are called. */
export const COMMANDS: readonly Command[] = [
  {
    name: "start",
    words: "[URL...]",
    summary:
      "Starts the router for the replicas at the URLs, or with the config files. Without either it reads signalbox.yaml in this folder; without that it starts a demo pool of three mock replicas.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them" },
      { name: "host", value: "ADDRESS", meaning: "where clients connect (default 127.0.0.1)" },
      { name: "port", value: "N", meaning: "the port for clients (default 8080)" },
      { name: "admin-port", value: "N", meaning: "the port of the status page and the API (default 9090)" },
    ],
    run: async (input, registry) => (await import("./start/start.ts")).start(input, registry),
  },
  {
    name: "epp",
    words: "[URL...]",
    summary:
      "Runs as the endpoint picker of a gateway (Envoy's ext_proc, Gateway API Inference Extension), with the same config: the gateway sends the requests, the router says where to.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them" },
      { name: "host", value: "ADDRESS", meaning: "where the gateway connects (default 127.0.0.1)" },
      { name: "grpc-port", value: "N", meaning: "the port for the gateway (default 9002)" },
      { name: "admin-port", value: "N", meaning: "the port of the status page and the API (default 9090)" },
    ],
    run: async (input, registry) => (await import("./start/epp.ts")).epp(input, registry),
  },
  {
    name: "check",
    words: "-f FILE|DIR... [URL...]",
    summary: "Reads config files and lists every problem in them, and what is probably a mistake.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder of them" },
      { name: "strict", meaning: "warnings count as problems" },
      JSON_SWITCH,
    ],
    run: async (input, registry) => (await import("./commands/config.ts")).check(input, registry),
  },
  {
    name: "status",
    words: "[--watch [SECONDS]]",
    summary: "Shows the replicas, models and rewrites of a running router.",
    switches: [...ADMIN, WATCH],
    run: async (input) => (await import("./commands/status.ts")).status(input),
  },
  {
    name: "top",
    words: "[SECONDS]",
    summary:
      "Shows the replicas as a table that is drawn anew every 2 seconds, until Ctrl-C; once, if the output is no terminal.",
    switches: [
      ...ADMIN_URL,
      { name: "sort", value: "KEY", meaning: "name (default), inflight, waiting, kv, requests, errors, ttft, hits or tokens" },
    ],
    run: async (input) => (await import("./commands/top.ts")).top(input),
  },
  {
    name: "explain",
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
    words: "",
    summary: "Prints what the router's decisions read now, as JSON for explain --snapshot: no prompts, no headers, no keys.",
    switches: ADMIN_URL,
    run: async (input) => (await import("./commands/get.ts")).facts(input),
  },
  {
    name: "tail",
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
    run: async (input) => (await import("./commands/tail.ts")).tail(input),
  },
  {
    name: "apply",
    words: "-f FILE|DIR...",
    summary: "Creates the rewrites in the files, or replaces those of the same name, in a running router.",
    switches: [...ADMIN, { ...FILES, meaning: "a file with InferenceModelRewrite documents, or a folder" }, WRITE, FOR],
    run: async (input) => (await import("./commands/apply.ts")).apply(input),
  },
  {
    name: "weights",
    words: "REWRITE TARGET=WEIGHT...",
    summary: "Changes weights of a rewrite; targets that are not named keep theirs.",
    switches: [...ADMIN, RULE, WRITE, FOR],
    run: async (input) => (await import("./commands/rewrites.ts")).weights(input),
  },
  {
    name: "delete",
    words: "rewrite NAME",
    summary: "Deletes a rewrite of a running router.",
    switches: [...ADMIN, WRITE, FOR],
    choices: ["rewrite"],
    run: async (input) => (await import("./commands/rewrites.ts")).deleteRewrite(input),
  },
  {
    name: "revert",
    words: "rewrite NAME",
    summary: "Drops what was changed in a rewrite beside its file: the file applies again.",
    switches: ADMIN,
    choices: ["rewrite"],
    run: async (input) => (await import("./commands/rewrites.ts")).revertRewrite(input),
  },
  {
    name: "split-test",
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
    words: "rewrites|endpoints|config",
    summary: "Shows what a running router has, for people and, with --json, for programs.",
    switches: ADMIN,
    choices: ["rewrites", "endpoints", "config"],
    run: async (input) => (await import("./commands/get.ts")).get(input),
  },
  {
    name: "drain",
    words: "ENDPOINT",
    summary: "No new requests for an endpoint; those under way finish. The status says when it is empty.",
    switches: [...ADMIN, REASON, FOR, GRACE],
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "drain"),
  },
  {
    name: "cordon",
    words: "ENDPOINT",
    summary: "No new requests for an endpoint but those for a model that no available one serves.",
    switches: [...ADMIN, REASON, FOR],
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "cordon"),
  },
  {
    name: "undrain",
    words: "ENDPOINT",
    summary: "Ends a drain or a cordon.",
    switches: ADMIN,
    run: async (input) => (await import("./commands/operate.ts")).operate(input, "undrain"),
  },
  {
    name: "adapters",
    words: "[load|unload NAME]",
    summary: "Shows which replicas have which adapters, or has replicas load or unload one.",
    switches: [
      ...ADMIN,
      { name: "path", value: "PATH", meaning: "where replicas find the adapter (default: where they find adapters by name)" },
      { name: "endpoint", value: "NAME", meaning: "only at this endpoint (default: at all in service)" },
    ],
    choices: ["load", "unload"],
    run: async (input) => (await import("./commands/adapters.ts")).adapters(input),
  },
  {
    name: "key",
    words: "new NAME | list | revoke NAME",
    summary: "Makes a client's key and its entry, lists the keys of a file, or takes one out of it.",
    switches: [
      { name: "file", short: "f", value: "FILE", meaning: "the keys file, or the config file with spec.auth.keys" },
      { name: "tenant", value: "NAME", meaning: "new: whose key it is (default: its name)" },
      { name: "models", value: "A,B", meaning: "new: the models that it may ask for (default: all)" },
      { name: "expires", value: "DATE", meaning: "new: when it expires, such as 2027-01-31 (default: never)" },
      JSON_SWITCH,
    ],
    choices: ["new", "list", "revoke"],
    run: async (input) => (await import("./commands/key.ts")).key(input),
  },
  {
    name: "reload",
    words: "",
    summary: "Lets a running router read its files again. The next config runs whole or not at all.",
    switches: ADMIN,
    run: async (input) => (await import("./commands/operate.ts")).reload(input),
  },
  {
    name: "config",
    words: "print [--effective] | fmt FILE...",
    summary: "print: shows a config without its secrets. fmt: formats files; comments stay.",
    switches: [
      ...ADMIN,
      { ...FILES, meaning: "prints these files instead of what a router runs with" },
      { name: "effective", meaning: "with every default, and where each value comes from" },
      { name: "check", meaning: "fmt: changes nothing; exit code 1 if a file is not formatted" },
    ],
    choices: ["print", "fmt"],
    run: async (input, registry) => (await import("./commands/config.ts")).config(input, registry),
  },
  {
    name: "mock",
    words: "[--port N] [--model NAME] [--adapters a,b] ...",
    summary: "Starts one mock replica.",
    switches: [],
    isOnItsOwn: true,
    run: async (input) => (await import("./commands/mock.ts")).mock(input.words),
  },
  {
    name: "simulate",
    words: "TRACE... [-f CONFIG]... [--replicas 8] ...",
    summary: "Replays recorded traffic against modelled replicas, to compare configs.",
    details: SIMULATE_DETAILS,
    switches: SIMULATE_SWITCHES,
    run: async (input, registry) => (await import("./commands/simulate.ts")).simulate(input, registry),
  },
  {
    name: "dev",
    words: "-f FILE|DIR... [URL...]",
    summary:
      "Starts a router for the work on plugins: what is saved runs at once (the last good one while it has a mistake), and each request shows what your plugins made of it. Three mock replicas run if the config names none.",
    switches: [
      { ...FILES, meaning: "a config file that loads your plugins, or a folder of them" },
      { name: "demo", meaning: "runs three mock replicas beside those of the config" },
      {
        name: "requests",
        value: "N",
        meaning: "sends so many requests per second itself (default 1 with mock replicas, else none)",
      },
      { name: "host", value: "ADDRESS", meaning: "where clients connect (default 127.0.0.1)" },
      { name: "port", value: "N", meaning: "the port for clients (default 8080)" },
      { name: "admin-port", value: "N", meaning: "the port of the status page and the API (default 9090)" },
    ],
    run: async (input, registry) => (await import("./dev/dev.ts")).dev(input, registry),
  },
  {
    name: "plugins",
    words: "list | show TYPE",
    summary: "Shows the plugin types: what each does, its options with their defaults, and an example.",
    switches: [
      { ...FILES, meaning: "a config file, or a folder: the plugins of your own that it loads are shown too" },
      JSON_SWITCH,
    ],
    choices: ["list", "show"],
    run: async (input, registry) => (await import("./commands/plugins.ts")).plugins(input, registry),
  },
  {
    name: "schema",
    words: "",
    summary: "Prints the JSON Schema for editors; with -f, the options of the plugins that the config loads are in it.",
    switches: [{ ...FILES, meaning: "a config file, or a folder of them" }],
    run: async (input, registry) => (await import("./commands/plugins.ts")).schema(input, registry),
  },
  {
    name: "new",
    words: "KIND NAME",
    summary: "Makes a folder with a plugin of this kind (scorer, filter, picker …) that works: source, test, config, README.",
    switches: [],
    choices: ["scorer", "filter", "picker", "parser", "observer", "source", "discovery", "detector"],
    run: async (input) => (await import("./commands/new.ts")).newPlugin(input),
  },
  {
    name: "completion",
    words: "bash|zsh|fish",
    summary: 'Prints completions for a shell; for bash: eval "$(signalbox completion bash)".',
    switches: [],
    choices: ["bash", "zsh", "fish"],
    run: async (input) => (await import("./commands/completion.ts")).completion(input, COMMANDS),
  },
  {
    name: "version",
    words: "",
    summary: "Shows the version of the program and of the runtime.",
    switches: [JSON_SWITCH],
    run: async (input) => (await import("./commands/version.ts")).version(input),
  },
];

import { type Command, JSON_SWITCH } from "../../config/command.ts";
import { FILES, LISTEN } from "./switches.ts";

/** The commands for the work on plugins; their modules are loaded only when they are called. */
export const PLUGIN_COMMANDS: readonly Command[] = [
  {
    name: "dev",
    group: "write plugins",
    words: "-f FILE|DIR... [URL...]",
    summary:
      "Starts a router for the work on plugins: what is saved runs at once (the last good one while it has a mistake or never returns), and each request shows what your plugins made of it. Three mock replicas run if the config names none.",
    switches: [
      { ...FILES, meaning: "a config file that loads your plugins, or a folder of them" },
      { name: "demo", meaning: "runs three mock replicas beside those of the config" },
      {
        name: "requests",
        value: "N",
        meaning: "sends so many requests per second itself (default 1 with mock replicas, else none)",
      },
      ...LISTEN,
    ],
    run: async (input, registry) => (await import("./dev/dev.ts")).dev(input, registry),
  },
  {
    name: "plugins",
    group: "write plugins",
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
    group: "write plugins",
    words: "",
    summary: "Prints the JSON Schema for editors; with -f, the options of the plugins that the config loads are in it.",
    switches: [{ ...FILES, meaning: "a config file, or a folder of them" }],
    run: async (input, registry) => (await import("./commands/plugins.ts")).schema(input, registry),
  },
  {
    name: "new",
    group: "write plugins",
    words: "KIND NAME",
    summary: "Makes a folder with a plugin of this kind (scorer, filter, picker …) that works: source, test, config, README.",
    switches: [],
    choices: "scorer filter picker parser observer source discovery detector admission authenticator feature".split(" "),
    run: async (input) => (await import("./commands/new.ts")).newPlugin(input),
  },
  {
    name: "test",
    group: "write plugins",
    words: "[FILE...]",
    summary: "Runs the tests of a plugin (*.test.ts in this folder) on each of Node, Deno and Bun that is on this machine.",
    switches: [],
    run: async (input) => (await import("./commands/test.ts")).test(input),
  },
];

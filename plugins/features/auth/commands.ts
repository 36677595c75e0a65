import { type Command, JSON_SWITCH } from "../../../config/command.ts";

/** `signalbox key`. What it does is loaded when it is called. */
export const KEY: Command = {
  name: "key",
  group: "change",
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
  run: async (input) => (await import("./key-command.ts")).key(input),
};

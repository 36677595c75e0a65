import { JSON_SWITCH, type Switch } from "../../config/command.ts";
import { DEFAULT_ADMIN_URL } from "./frame/command.ts";

// Switches that several commands have.

export const ADMIN_URL: readonly Switch[] = [
  { name: "admin", value: "URL", meaning: `the router's admin port (default: $SIGNALBOX_ADMIN, else ${DEFAULT_ADMIN_URL})` },
  { name: "token-file", value: "FILE", meaning: "holds the token for the admin port (default: $SIGNALBOX_ADMIN_TOKEN)" },
];
export const ADMIN: readonly Switch[] = [...ADMIN_URL, JSON_SWITCH];

/** Of a router for clients. */
export const LISTEN: readonly Switch[] = [
  { name: "host", value: "ADDRESS", meaning: "where clients connect (default 127.0.0.1)" },
  { name: "port", value: "N", meaning: "the port for clients (default 8080)" },
  { name: "admin-port", value: "N", meaning: "the port of the status page and the API (default 9090)" },
];

export const FOR: Switch = { name: "for", value: "TIME", meaning: "when it ends by itself, such as 90s or 2h (default: never)" };
export const REASON: Switch = { name: "reason", value: "TEXT", meaning: "why; the status and the log show it" };
export const WRITE: Switch = { name: "write", meaning: "writes it into the file that the rewrite comes from; comments stay" };
export const RULE: Switch = { name: "rule", value: "N", meaning: "index of the rule, where the rewrite has several" };
export const GRACE: Switch = { name: "grace", value: "TIME", meaning: "how long its sessions go on" };
export const FILES: Switch = {
  name: "file",
  short: "f",
  value: "FILE",
  isRepeated: true,
  meaning: "a file, or a folder of files",
};
export const WATCH: Switch = { name: "watch", meaning: "draws it anew every so many seconds (default 2), until q or Ctrl-C" };

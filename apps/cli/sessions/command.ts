import type { Command } from "../../../config/command.ts";
import { ADMIN } from "../switches.ts";

/** `signalbox sessions`. What it does is loaded when it is called. */
export const SESSIONS: Command = {
  name: "sessions",
  group: "look",
  words: "",
  summary: "Shows which session of an agent is on which replica, how large, and idle since.",
  switches: ADMIN,
  run: async (input) => (await import("./sessions.ts")).sessions(input),
};

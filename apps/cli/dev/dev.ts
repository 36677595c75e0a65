import { type Input, UsageError } from "../../../config/command.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { ownCommand } from "../own-command.ts";
import { STAND_INS } from "./versions.ts";

/**
 * `signalbox dev`: a router for the work on plugins. It runs in a process of its own, since a plugin that never returns can only be ended
 * with its process; this one starts it again. Returns the exit code.
 */
export async function dev(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const files = input.all("file");
  if (files.length === 0) throw new UsageError("Name the config that loads your plugin: signalbox dev -f signalbox.yaml");
  const command = STAND_INS in process.env ? undefined : ownCommand();
  // Whoever debugs a plugin wants one process, and may stop it as long as he likes.
  if (command === undefined || command.some((word) => word.startsWith("--inspect")))
    return (await import("./dev-router.ts")).runDevRouter(input, registry);
  return (await import("./supervise.ts")).supervise(command, files);
}

import { thrownMessage } from "../contract/thrown-text.ts";
import type { RouterPlan } from "../router-config.ts";

/** One plugin instance of a config is at fault. */
export class PluginError extends Error {
  /** The instance's name. */
  readonly plugin: string;

  /** `place`: where in the plugin's own file it was thrown, as file:line:column; "" if that is not known. */
  constructor(plugin: string, message: string, cause: unknown, place = "") {
    const thrownAt = place === "" ? "" : ` (thrown at ${place})`;
    super(`${message}: ${thrownMessage(cause)}${thrownAt}`, { cause });
    this.name = "PluginError";
    this.plugin = plugin;
  }
}

/** What was thrown, with the plugin's place in the files in front of its message: `file:line:column`. */
export function withPlace(thrown: unknown, { config }: RouterPlan): unknown {
  if (!(thrown instanceof PluginError)) return thrown;
  const position = config.plugins.find(({ name }) => name === thrown.plugin)?.position;
  if (position === undefined) return thrown;
  const { file, line, column } = position;
  return new Error(`${file}:${line}:${column}  ${thrown.message}`, { cause: thrown.cause });
}

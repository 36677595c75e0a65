import type { Input } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";
import { isSortKey, SORT_KEYS, topLines } from "../show/top-table.ts";
import { watch } from "../show/watch.ts";

/** `signalbox top`: draws a table of the replicas until a signal comes. Returns the exit code. */
export function top(input: Input): Promise<number> {
  const sort = input.text("sort") ?? "name";
  if (!isSortKey(sort)) throw new UsageError(`--sort wants one of ${SORT_KEYS.join(", ")}, not "${sort}".`);
  return watch(input, (now, size) => topLines(now, sort, size));
}

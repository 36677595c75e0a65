import { systemClock } from "../../core/clock.ts";
import { silentLog } from "../../core/log.ts";
import type { OptionSchema, SchemaIssue } from "../../core/options.ts";
import type { Definition, PluginHost, PluginKind, PluginKinds } from "../../core/plugin.ts";
import { seededRandom } from "./endpoints.ts";

/** A host that does nothing, but for what the test hands in. */
export function makeHost(overrides: Partial<PluginHost> = {}): PluginHost {
  return {
    name: "under-test",
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    print: () => {},
    isTerminal: false,
    signal: new AbortController().signal,
    usePrefixIndex: () => {},
    ...overrides,
  };
}

/** A live plugin, its parameters checked as the config loader does. */
export function createPlugin<Kind extends PluginKind, Options>(
  definition: Definition<Kind, Options>,
  parameters: unknown = {},
  host: PluginHost = makeHost(),
): PluginKinds[Kind] {
  const result = check(definition.options, parameters);
  if (result.issues !== undefined) throw new TypeError(result.issues.map((issue) => issue.message).join("; "));
  return definition.create(result.value, host);
}

/** What is wrong with the parameters; empty when nothing is. */
export function issuesOf(definition: Definition, parameters: unknown): readonly SchemaIssue[] {
  return check(definition.options, parameters).issues ?? [];
}

function check<Options>(schema: OptionSchema<Options>, value: unknown) {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) throw new TypeError("Options must be checked without waiting");
  return result;
}

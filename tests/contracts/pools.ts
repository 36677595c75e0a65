import { it } from "node:test";
import { ownTypes } from "../../config/plugins/instances.ts";
import type { Definition, PluginKind, PluginKinds } from "../../core/contract/plugin.ts";
import { checkProperties } from "../../core/test-kit/properties.ts";
import { builtIns } from "../../plugins/registry.ts";
import { createPlugin } from "../support/plugins.ts";

/** Built-ins whose options have no default, and options for them. */
const REQUIRED_OPTIONS: Readonly<Record<string, unknown>> = {
  "attribute-filter": {
    attribute: "GPUUtilization",
    algorithm: { type: "percentile", percentile: { percentile: 50, higherIsBetter: false } },
  },
  "attribute-scorer": { attributeKey: "GPUUtilization", algorithm: { type: "linear_lower_is_better" } },
  "by-label": { label: "zone", validValues: ["a"] },
  "topology-filter": { near: { zone: "a" }, labels: { zone: "zone" } },
  "topology-scorer": { near: { zone: "a" }, labels: { zone: "zone" } },
  passthrough: { routes: [{ method: "POST", path: "/v1/mine" }] },
};

/** Checks what every plugin of the kind promises, of each built-in. */
export function checkBuiltIns(kind: "filter" | "scorer" | "picker"): void {
  for (const definition of ownTypes(builtIns)) {
    if (definition.kind !== kind) continue;
    it(`the ${kind} ${definition.type} keeps its contract`, () => {
      checkProperties(definition as Definition<typeof kind>, REQUIRED_OPTIONS[definition.type]);
    });
  }
}

/** Every built-in of a kind, by its type; the reference's names for them make the same plugins. */
export function builtInsOf<Kind extends PluginKind>(
  kind: Kind,
): readonly (readonly [type: string, create: () => PluginKinds[Kind]])[] {
  return ownTypes(builtIns)
    .filter((definition): definition is Definition<Kind> => definition.kind === kind)
    .map((definition) => [definition.type, () => createPlugin(definition, REQUIRED_OPTIONS[definition.type] ?? {})]);
}

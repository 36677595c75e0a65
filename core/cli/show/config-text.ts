import type { EffectiveConfig } from "../../../config/show/effective.ts";
import { withComments } from "../../../config/show/format.ts";
import { printableLines } from "../../contract/printable.ts";

/** A config as the admin API shows it. */
export interface ShownConfig extends EffectiveConfig {
  readonly rewrites?: readonly { readonly origin: string; readonly document: unknown }[];
}

/** The documents as YAML: everything with its origin, or only what does not come from a default. */
export function configText({ router, origins, rewrites = [] }: ShownConfig, isEffective: boolean): string {
  const shown = isEffective ? router : withoutDefaults(router, "", origins);
  const routerText = withComments(shown, (path) => (isEffective ? origins[path] : undefined));
  const others = rewrites.map(({ origin, document }) => `---\n# ${origin}\n${withComments(document, () => undefined)}`);
  return printableLines([routerText, ...others].join("").trimEnd());
}

/** The value without what has a default for its origin; undefined if nothing is left. */
export function withoutDefaults(value: unknown, path: string, origins: Readonly<Record<string, string>>): unknown {
  const origin = origins[path];
  if (origin !== undefined) return origin === "default" ? undefined : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value
      .map((item, index) => withoutDefaults(item, `${path}[${index}]`, origins))
      .filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, withoutDefaults(inner, path === "" ? key : `${path}.${key}`, origins)] as const)
    .filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

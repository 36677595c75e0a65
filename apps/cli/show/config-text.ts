import type { EffectiveConfig } from "../../../config/show/effective.ts";
import { withComments } from "../../../config/show/format.ts";
import { withoutDefaults } from "../../../config/show/without-defaults.ts";
import { printableLines } from "../../../core/contract/printable.ts";

/** The rewrites as the admin API shows them. */
export interface ShownRewrites {
  readonly rewrites?: readonly { readonly origin: string; readonly document: unknown }[];
}

/** A config as the admin API shows it. */
export interface ShownConfig extends EffectiveConfig, ShownRewrites {}

/** The documents as YAML: everything with its origin, or only what does not come from a default. */
export function configText({ router, origins, rewrites = [] }: ShownConfig, isEffective: boolean): string {
  const shown = isEffective ? router : withoutDefaults(router, "", origins);
  const routerText = withComments(shown, (path) => (isEffective ? origins[path] : undefined));
  const others = rewrites.map(({ origin, document }) => `---\n# ${origin}\n${withComments(document, () => undefined)}`);
  return printableLines([routerText, ...others].join("").trimEnd());
}

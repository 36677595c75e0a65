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
export function configText({ router, origins, pools = [], rewrites = [] }: ShownConfig, isEffective: boolean): string {
  const text = (document: unknown, of: EffectiveConfig["origins"]) => {
    const shown = isEffective ? document : withoutDefaults(document, "", of);
    return withComments(shown, (path) => (isEffective ? of[path] : undefined));
  };
  const poolTexts = pools.map((pool) => `---\n${text(pool.document, pool.origins)}`);
  const others = rewrites.map(({ origin, document }) => `---\n# ${origin}\n${withComments(document, () => undefined)}`);
  return printableLines([text(router, origins), ...poolTexts, ...others].join("").trimEnd());
}

import type { ConfigText } from "../read/files.ts";
import type { Overlay } from "../rewrites/overlay.ts";
import type { ReloadCause } from "./reload-cause.ts";

/** How an attempt to change the config ended. */
export interface ChangeResult {
  /** Whether what was asked for runs now. True also where it ran before, so that there was nothing to do. */
  readonly isApplied: boolean;
  /** Why it was refused, each on one line, with `file:line:column` where there is a place; empty when it was applied. */
  readonly problems: readonly string[];
}

/** The config that runs, for those who change it beside its files. */
export interface ChangeableConfig {
  readonly loaded: { readonly texts: readonly ConfigText[] };
  readonly overlay: Overlay;
  change(edit: (overlay: Overlay) => Overlay, cause: ReloadCause): Promise<ChangeResult>;
}

/** `running` of a feature's host, which the core hands on without knowing it. Undefined where nothing can change the config. */
export function changeableConfig(running: object | undefined): ChangeableConfig | undefined {
  return running as ChangeableConfig | undefined;
}

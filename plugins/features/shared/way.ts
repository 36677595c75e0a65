import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import type { RouterAccess } from "../../../core/router-host.ts";
import type { Services } from "../../../core/services.ts";
import { type SharedConfig, storeOf } from "./shared-config.ts";

/** By what routers agree. */
export interface Way {
  /** For people. */
  readonly text: string;
  /** What messages are sealed with; undefined where only processes of this program can send any. */
  readonly secret: string | undefined;
  /** True if routers of any config may meet there: not of one program, and not of one simulation. */
  readonly isPublic: boolean;
  open(channel: string, events: LinkEvents): Link;
}

/** The config's store, or the program's own way between its workers. Undefined where the router is alone. */
export function wayOf(
  config: SharedConfig | undefined,
  { carrier, workers }: Pick<RouterAccess, "carrier" | "workers">,
  services: Services,
): Way | undefined {
  if (config === undefined)
    return workers && { text: "the program's workers", secret: undefined, isPublic: false, open: workers };
  const store = storeOf(config);
  const open = carrier ?? ((channel: string, events: LinkEvents) => store.open(channel, events, services));
  return { text: store.text, secret: config.secret.reveal(), isPublic: carrier === undefined, open };
}

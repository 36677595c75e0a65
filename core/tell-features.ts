import type { Log } from "./contract/log.ts";
import { thrownText } from "./contract/thrown-text.ts";

/** Calls the features of a slot that must not matter to a request. One that throws is logged: the others are told all the same. */
export function tellFeatures<Slot>(
  features: readonly { readonly name: string; readonly plugin: Slot }[],
  log: Log,
  call: (feature: Slot) => void,
): void {
  for (const { name, plugin } of features) {
    try {
      call(plugin);
    } catch (thrown) {
      log.warn("A feature failed", { plugin: name, fault: thrownText(thrown) });
    }
  }
}

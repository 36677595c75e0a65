import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { type Definition, defineDiscovery } from "../../core/contract/plugin.ts";

/** A discovery that finds what the test says; in the config it is `{ type: told }`. */
export interface ToldDiscovery {
  readonly definition: Definition;
  /** The whole list from now on: addresses by name. */
  tell(urls: Readonly<Record<string, string>>): void;
  /** The same, with all that a discovery can say of a replica. */
  tellSpecs(specs: readonly EndpointSpec[]): void;
}

/** Finds `urls` at first. */
export function toldDiscovery(urls: Readonly<Record<string, string>> = {}): ToldDiscovery {
  let found: (specs: readonly EndpointSpec[]) => void = () => {};
  const specs = (list: Readonly<Record<string, string>>) =>
    Object.entries(list).map(([name, url]) => ({ name, url, labels: {} }));
  const definition = defineDiscovery({
    type: "told",
    summary: "Finds what a test says.",
    options: z.strictObject({}),
    create: () => ({
      start(tell) {
        found = tell;
        tell(specs(urls));
      },
    }),
  });
  return { definition: definition as Definition, tell: (list) => found(specs(list)), tellSpecs: (list) => found(list) };
}

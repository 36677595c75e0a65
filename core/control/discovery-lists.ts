import type { Named } from "../active-config.ts";
import type { Discovery, DiscoveryTrouble } from "../contract/discovery.ts";
import type { EndpointSpec } from "../contract/endpoint.ts";
import { PluginError } from "./plugin-error.ts";

type Specs = readonly EndpointSpec[];

/**
 * What the discoveries of one config have found: together it is the pool. Until all of them have told something, what the
 * config before had found stays, so that a reload takes no endpoint out only because its discovery has yet to answer.
 */
export class DiscoveryLists {
  readonly #discoveries: readonly Named<Discovery>[];
  /** By instance, in the order of the config. */
  readonly #told = new Map<string, Specs>();
  /** From the config before; empty once it is not needed any more. */
  #inherited: ReadonlyMap<string, Specs> = new Map();
  #changed: (() => void) | undefined;
  #isStopped = false;

  constructor(discoveries: readonly Named<Discovery>[]) {
    this.#discoveries = discoveries;
  }

  /** Starts all of them; nobody is told yet. Throws PluginError for the one that can't start. */
  start(): void {
    for (const discovery of this.#discoveries) {
      try {
        discovery.plugin.start((specs) => this.#found(discovery, specs));
      } catch (cause) {
        throw new PluginError(discovery.name, `The discovery "${discovery.name}" can't start`, cause);
      }
    }
  }

  /** Takes over from the lists of the config before. `changed` is called whenever `specs` may be different. */
  succeed(before: DiscoveryLists | undefined, changed: () => void): void {
    if (before !== undefined) {
      this.#inherited = new Map([...before.#inherited, ...before.#told]);
      before.stop();
    }
    this.#changed = changed;
  }

  /** The whole list now. */
  get specs(): Specs {
    const keys = this.#discoveries.map(keyOf);
    const own = keys.flatMap((key) => this.#told.get(key) ?? this.#inherited.get(key) ?? []);
    if (keys.every((key) => this.#told.has(key))) return own;
    const names = new Set(own.map(({ name }) => name));
    const others = [...this.#inherited].filter(([key]) => !keys.includes(key)).flatMap(([, specs]) => specs);
    return [...own, ...others.filter(({ name }) => !names.has(name))];
  }

  /** Those that can't know the replicas as they are now, by instance. */
  get troubles(): ReadonlyMap<string, DiscoveryTrouble> {
    return new Map(
      this.#discoveries.flatMap(({ name, plugin: { trouble } }) => (trouble === undefined ? [] : [[name, trouble]])),
    );
  }

  /** What is found from now on is ignored: a discovery may be answered after its end. */
  stop(): void {
    this.#isStopped = true;
  }

  #found(discovery: Named<Discovery>, specs: Specs): void {
    if (this.#isStopped) return;
    // A copy, because the plugin may be changing its list when another discovery reports.
    this.#told.set(keyOf(discovery), [...specs]);
    if (this.#discoveries.every((each) => this.#told.has(keyOf(each)))) this.#inherited = new Map();
    this.#changed?.();
  }
}

const keyOf = ({ type, name }: Named<Discovery>) => `${type}\0${name}`;

import { type KubernetesApi, KubernetesClient } from "../../../apps/kubernetes/client.ts";
import { type CredentialChoice, findCredentials } from "../../../apps/kubernetes/credentials.ts";
import { printable } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import type { Services } from "../../../core/services.ts";
import { metadataOf, selectorOf } from "./config-map.ts";
import { ConfigMapReader } from "./config-map-reader.ts";
import type { Store } from "./link.ts";
import { OwnConfigMap } from "./own-config-map.ts";

/** A namespace of a cluster, and who the router is there. */
export interface ClusterPlace {
  readonly credentials: CredentialChoice;
  /** Undefined for that of the credentials. */
  readonly namespace: string | undefined;
  readonly everyMs: number;
}

/** A way to the API server, and the namespace of the ConfigMaps. */
export interface ClusterWay {
  readonly client: KubernetesApi;
  readonly namespace: string;
}

/** Between two looks at how the watch is. */
const LOOK_MS = 500;
/** That a write and the watch that tells of it usually take at most. */
const WAY_MS = 300;
/** Until credentials that could not be read are looked for again. */
const NO_WAY_MS = 5_000;

/** ConfigMaps of a namespace: each router writes one of its own, and reads the others'. */
export function kubernetesStore(place: ClusterPlace, wayOf = wayTo): Store {
  return {
    text: place.namespace === undefined ? "ConfigMaps in Kubernetes" : `ConfigMaps of the namespace ${place.namespace}`,
    open: (channel, events, services) =>
      new KubernetesLink(() => wayOf(place, services), place.everyMs, channel, events, services),
  };
}

/** Throws an Error when there is none. */
function wayTo({ credentials, namespace }: ClusterPlace, { clock, random }: Services): ClusterWay {
  const found = findCredentials(credentials, { clock, environment: process.env });
  return { client: new KubernetesClient(found, clock, random), namespace: namespace ?? found.namespace };
}

class KubernetesLink implements Link {
  readonly #everyMs: number;
  readonly #channel: string;
  readonly #events: LinkEvents;
  readonly #services: Services;
  #own: OwnConfigMap | undefined;
  #reader: ConfigMapReader | undefined;
  /** Why it can't be written; undefined before the first write. */
  #writeFault: string | undefined;
  #isUp = false;
  #isClosed = false;
  #cancel: () => void = () => {};

  constructor(way: () => ClusterWay, everyMs: number, channel: string, events: LinkEvents, services: Services) {
    this.#everyMs = everyMs;
    this.#channel = channel;
    this.#events = events;
    this.#services = services;
    // Nobody hears of a link before it is made.
    this.#cancel = services.clock.after(0, () => this.#begin(way));
  }

  get waitMs(): number {
    return this.#own?.waitMs ?? 0;
  }

  /** The others' next writes, and their way. */
  get settledMs(): number {
    return this.#everyMs + WAY_MS;
  }

  publish(message: string): void {
    this.#own?.add(message);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#reader?.stop();
    this.#own?.close();
  }

  #begin(way: () => ClusterWay): void {
    const { clock } = this.#services;
    try {
      this.#follow(way());
    } catch (thrown) {
      this.#events.down(printable(thrownMessage(thrown)));
      this.#cancel = clock.after(NO_WAY_MS, () => this.#begin(way));
      return;
    }
    this.#cancel = clock.every(LOOK_MS, () => this.#look());
  }

  #follow({ client, namespace }: ClusterWay): void {
    const metadata = metadataOf(this.#channel, namespace, process.env);
    const access = { ...this.#services, client, list: `/api/v1/namespaces/${namespace}/configmaps` };
    this.#reader = new ConfigMapReader({
      ...access,
      selector: selectorOf(this.#channel),
      ownName: metadata.name,
      received: (message) => {
        if (!this.#isClosed) this.#events.received(message);
      },
      changed: () => this.#look(),
    });
    this.#own = new OwnConfigMap({
      ...access,
      metadata,
      everyMs: this.#everyMs,
      written: (fault) => {
        this.#writeFault = fault;
        this.#look();
      },
      lost: () => this.#events.lost(),
    });
    this.#reader.start();
    this.#own.start();
  }

  /** It is up while the others' can be read and its own be written. */
  #look(): void {
    if (this.#isClosed || this.#reader === undefined) return;
    const fault = this.#reader.fault || this.#writeFault;
    if (fault) {
      this.#isUp = false;
      return this.#events.down(printable(fault));
    }
    if (this.#isUp) return this.#reader.deleteGone();
    if (fault === undefined || !this.#reader.isSynced) return;
    this.#isUp = true;
    this.#reader.startAnew();
    this.#events.up();
  }
}

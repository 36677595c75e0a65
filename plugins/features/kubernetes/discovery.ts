import { KubernetesClient } from "../../../apps/kubernetes/client.ts";
import { type CredentialChoice, findCredentials } from "../../../apps/kubernetes/credentials.ts";
import type { DiscoveryTrouble } from "../../../core/contract/discovery.ts";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { z } from "../../../core/contract/options.ts";
import { defineDiscovery, type PluginHost } from "../../../core/contract/plugin.ts";
import type { ReplicaChoice } from "./replica-choice.ts";
import { type Search, searchReplicas } from "./replicas.ts";

type Found = (specs: readonly EndpointSpec[]) => void;

export interface Asked {
  readonly credentials: CredentialChoice;
  /** Undefined for that of the credentials. */
  readonly namespace: string | undefined;
  readonly replicas: ReplicaChoice;
}

/** A search that goes on over reloads of the config, as long as one of its users is there. */
class SharedSearch {
  readonly #users = new Set<Found>();
  readonly #search: Search;
  #specs: readonly EndpointSpec[] | undefined;

  /** Throws an Error when there is no way to the cluster. */
  constructor({ credentials, namespace, replicas }: Asked, { clock, random, log }: PluginHost, before: SharedSearch | undefined) {
    const found = findCredentials(credentials, { clock, environment: process.env });
    this.#search = searchReplicas(replicas, {
      client: new KubernetesClient(found, clock, random),
      namespace: namespace ?? found.namespace,
      clock,
      random,
      log,
      portsBefore: before?.ports,
      found: (specs) => {
        this.#specs = specs;
        for (const user of this.#users) user(specs);
      },
    });
  }

  get trouble(): DiscoveryTrouble | undefined {
    return this.#search.trouble;
  }

  get ports(): Search["ports"] {
    return this.#search.ports;
  }

  add(user: Found): void {
    this.#users.add(user);
    if (this.#specs !== undefined) user(this.#specs);
  }

  /** Returns whether it was the last one; then the search has ended. */
  remove(user: Found): boolean {
    this.#users.delete(user);
    if (this.#users.size > 0) return false;
    this.#search.stop();
    return true;
  }
}

/** Made of spec.kubernetes. Its searches are kept, so that a change of the config does not list thousands of pods anew. */
export const kubernetesDiscovery = defineDiscovery({
  type: "kubernetes",
  summary: "The endpoints that a Kubernetes cluster has for an InferencePool, a label selector or a Service.",
  options: z.custom<Asked>(),
  create(asked, host) {
    const key = JSON.stringify(asked);
    const searches = host.keep(1, () => new Map<string, SharedSearch>());
    let own: { readonly search: SharedSearch; readonly user: Found } | undefined;
    return {
      start(found) {
        const search = searches.get(key) ?? new SharedSearch(asked, host, [...searches.values()].at(-1));
        searches.set(key, search);
        own = { search, user: (specs) => found(specs) };
        search.add(own.user);
      },
      get trouble() {
        return own?.search.trouble;
      },
      dispose() {
        if (own?.search.remove(own.user)) searches.delete(key);
      },
    };
  },
});

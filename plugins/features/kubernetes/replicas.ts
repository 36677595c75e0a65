import { pause, retryMs } from "../../../apps/kubernetes/back-off.ts";
import type { ClusterAccess } from "../../../apps/kubernetes/client.ts";
import { isUnconnected } from "../../../apps/kubernetes/kubernetes-error.ts";
import { Watch, type WatchedList } from "../../../apps/kubernetes/watch.ts";
import type { DiscoveryTrouble } from "../../../core/contract/discovery.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { portsOfSlices, readSlice, type Slice } from "./endpoint-slices.ts";
import { findPoolList, type InferencePool, readInferencePool, selectorText } from "./inference-pool.ts";
import { type Pod, portsOfPods, readPod } from "./pods.ts";
import type { ReplicaChoice, RolePorts } from "./replica-choice.ts";
import { ReplicaPorts, type ReplicaPortsOptions } from "./replica-ports.ts";

export interface SearchHost extends ClusterAccess, ReplicaPortsOptions {
  readonly namespace: string;
}

/** A search for replicas that goes on until it is stopped. */
export interface Search {
  readonly trouble: DiscoveryTrouble | undefined;
  readonly ports: ReplicaPorts;
  stop(): void;
}

export function searchReplicas(choice: ReplicaChoice, host: SearchHost): Search {
  const ports = new ReplicaPorts(host);
  switch (choice.by) {
    case "service":
      return new ServiceSearch(choice.name, choice.port, host, ports);
    case "selector":
      return new PodSearch(choice.labels, choice.ports, [], host, ports);
    case "inferencePool":
      return new PoolSearch(choice.name, choice.ports, host, ports);
  }
}

function troubleOf<Item>({ fault, staleSinceMs = Number.NaN }: Watch<Item>) {
  return fault === "" ? undefined : { text: fault, sinceMs: staleSinceMs };
}

function startedWatch<Item>({ client, clock, random, log }: SearchHost, own: WatchedList<Item>) {
  const watch = new Watch({ client, clock, random, log, ...own });
  watch.start();
  return watch;
}

/** The pods with certain labels. */
class PodSearch implements Search {
  readonly #watch: Watch<Pod>;
  readonly ports: ReplicaPorts;
  readonly #rolePorts: RolePorts;
  #poolPorts: readonly number[];
  #pods: ReadonlyMap<string, Pod> | undefined;

  constructor(
    labels: InferencePool["labels"],
    rolePorts: RolePorts,
    poolPorts: readonly number[],
    host: SearchHost,
    ports: ReplicaPorts,
  ) {
    this.#rolePorts = rolePorts;
    this.#poolPorts = poolPorts;
    this.ports = ports;
    this.#watch = startedWatch(host, {
      path: `/api/v1/namespaces/${host.namespace}/pods`,
      query: { labelSelector: selectorText(labels) },
      pick: readPod,
      changed: (pods) => {
        this.#pods = pods;
        this.#tell();
      },
    });
  }

  get trouble(): DiscoveryTrouble | undefined {
    return troubleOf(this.#watch);
  }

  usePorts(poolPorts: readonly number[]): void {
    this.#poolPorts = poolPorts;
    this.#tell();
  }

  stop(): void {
    this.#watch.stop();
    this.ports.stop();
  }

  #tell(): void {
    if (this.#pods !== undefined) this.ports.tell(portsOfPods(this.#pods.values(), this.#rolePorts, this.#poolPorts));
  }
}

/** The endpoints of a Service. */
class ServiceSearch implements Search {
  readonly #watch: Watch<Slice>;
  readonly ports: ReplicaPorts;
  readonly #host: SearchHost;
  #fault = "";

  constructor(name: string, portName: string | undefined, host: SearchHost, ports: ReplicaPorts) {
    this.#host = host;
    this.ports = ports;
    this.#watch = startedWatch(host, {
      path: `/apis/discovery.k8s.io/v1/namespaces/${host.namespace}/endpointslices`,
      query: { labelSelector: `kubernetes.io/service-name=${name}` },
      pick: readSlice,
      changed: (slices) => this.#tell(slices, portName),
    });
  }

  get trouble(): DiscoveryTrouble | undefined {
    return this.#fault === "" ? troubleOf(this.#watch) : { text: this.#fault, sinceMs: Number.NaN };
  }

  stop(): void {
    this.#watch.stop();
    this.ports.stop();
  }

  #tell(slices: ReadonlyMap<string, Slice>, portName: string | undefined): void {
    try {
      this.ports.tell(portsOfSlices(slices.values(), portName));
      this.#fault = "";
    } catch (thrown) {
      const cause = thrownMessage(thrown);
      if (this.#fault === "") this.#host.log.warn("The Service's endpoints can't be used; the last ones stay", { cause });
      this.#fault = cause;
    }
  }
}

/** The pods of an InferencePool, which says with which labels and at which ports. */
class PoolSearch implements Search {
  readonly ports: ReplicaPorts;
  readonly #name: string;
  readonly #rolePorts: RolePorts;
  readonly #host: SearchHost;
  readonly #stopping = new AbortController();
  #watch: Watch<InferencePool> | undefined;
  #pods: { readonly labels: string; readonly search: PodSearch } | undefined;
  /** Why nothing is known of the pool itself; "" if something is. */
  #fault = "";
  #knownAtMs = Number.NaN;

  constructor(name: string, rolePorts: RolePorts, host: SearchHost, ports: ReplicaPorts) {
    this.#name = name;
    this.#rolePorts = rolePorts;
    this.ports = ports;
    this.#host = host;
    void this.#begin();
  }

  get trouble(): DiscoveryTrouble | undefined {
    if (this.#fault !== "") return { text: this.#fault, sinceMs: this.#knownAtMs };
    return (this.#watch && troubleOf(this.#watch)) ?? this.#pods?.search.trouble;
  }

  stop(): void {
    this.#stopping.abort();
    this.#watch?.stop();
    this.#pods?.search.stop();
  }

  /** The pool may come later than the router. */
  async #begin(): Promise<void> {
    const { client, namespace, clock, random } = this.#host;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const path = await findPoolList(client, namespace, this.#name, signal);
        if (!signal.aborted) this.#follow(path);
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        this.#failed(thrownMessage(thrown));
        failures = isUnconnected(thrown) ? 0 : failures + 1;
        await pause(retryMs(failures, thrown, random), clock, signal);
      }
    }
  }

  #follow(path: string): void {
    this.#watch = startedWatch(this.#host, {
      path,
      query: { fieldSelector: `metadata.name=${this.#name}` },
      pick: readInferencePool,
      changed: (pools) => this.#use(pools.get(this.#name)),
    });
  }

  /** A pool that is deleted, by mistake perhaps, takes no replica out. */
  #use(pool: InferencePool | undefined): void {
    if (pool === undefined)
      return this.#failed(`The InferencePool ${this.#name} is deleted, or selects nothing: create it again.`);
    this.#fault = "";
    this.#knownAtMs = this.#host.clock.now();
    const labels = selectorText(pool.labels);
    if (this.#pods?.labels === labels) return this.#pods.search.usePorts(pool.ports);
    // Until the new pods are listed, those before stay.
    this.#pods?.search.stop();
    this.#pods = { labels, search: new PodSearch(pool.labels, this.#rolePorts, pool.ports, this.#host, this.ports) };
  }

  #failed(cause: string): void {
    const { log } = this.#host;
    if (this.#fault === "") log.warn("The InferencePool can't be used; the last replicas stay", { pool: this.#name, cause });
    this.#fault = cause;
  }
}

import type { LoadedConfig } from "../config/load.ts";
import type { Snapshot } from "./active-config.ts";
import type { RouterView } from "./contract/router-view.ts";
import { ControlPlane } from "./control/control-plane.ts";
import type { HostServices } from "./control/plugin-set.ts";
import type { DataPlane } from "./data-plane.ts";
import { requestIds } from "./intake/request-ids.ts";
import { intake } from "./intake/request-intake.ts";
import type { RequestStarter } from "./intake/request-receiver.ts";
import { LoadTable } from "./state/load.ts";
import { PrefixIndex } from "./state/prefix-index.ts";
import { TokenScale } from "./state/token-scale.ts";
import { httpGet } from "./wire/http-get.ts";
import { UpstreamPools } from "./wire/upstream-pools.ts";

/** A router without a listener: hosts (the wire server, the fetch face) feed it requests. */
export interface Router {
  readonly start: RequestStarter;
  /** For answers to what never became a request. */
  nextRequestId(): string;
  /** What decisions read right now. */
  readonly snapshot: Snapshot;
  readonly load: LoadTable;
  /** For pages that show the router. */
  readonly view: RouterView;
  /** Resolves true once an endpoint is ready, false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Ends probes and every connection to a replica; requests under way break off. */
  close(): void;
}

/** Puts data plane and control plane together and starts probing. Throws when a plugin can't be made. */
export function runRouter(loaded: LoadedConfig, world: HostServices): Router {
  const { limits } = loaded.config.settings;
  const load = new LoadTable(world.clock);
  const pools = new UpstreamPools(limits, world.clock);
  const waiting = new Set<() => void>();
  let snapshot: Snapshot | undefined;
  let prefixIndex: PrefixIndex | undefined;

  const control = new ControlPlane({
    loaded,
    world,
    load,
    get: (url, path, timeoutMs, maxBytes, signal) => httpGet(url, path, { timeoutMs, maxBytes, signal }),
    replaced(slot) {
      prefixIndex?.forget(slot);
      pools.closeIdle(slot);
    },
    capacityKnown: (slot, tokens) => prefixIndex?.setCapacity(slot, tokens),
    publish(next) {
      pools.follow(next.endpoints);
      snapshot = next;
      if (isReady(next)) for (const wake of [...waiting]) wake();
    },
  });
  const { prefixSettings } = control.built;
  if (prefixSettings !== undefined) prefixIndex = new PrefixIndex(prefixSettings);

  const current = (): Snapshot => {
    if (snapshot === undefined) throw new TypeError("The control plane publishes its first snapshot before anything reads one");
    return snapshot;
  };
  const plane: DataPlane = {
    get snapshot() {
      return current();
    },
    load,
    prefixIndex,
    tokenScale: new TokenScale(),
    clock: world.clock,
    random: world.random,
    log: world.log,
    poolOf: (endpoint) => pools.of(endpoint),
    connectFailed: (endpoint) => control.connectFailed(endpoint),
    nextRequestId: requestIds(world.random),
  };
  const view: RouterView = {
    clock: world.clock,
    get snapshot() {
      return current();
    },
    load,
    get prefixIndex() {
      return prefixIndex?.stats();
    },
    connectionsTo: (endpoint) => pools.connectionsTo(endpoint),
    probeFailure: (endpoint) => control.probeFailure(endpoint),
  };
  control.start();

  return {
    start: intake(plane),
    nextRequestId: plane.nextRequestId,
    get snapshot() {
      return current();
    },
    load,
    view,
    whenReady(timeoutMs) {
      if (isReady(current())) return Promise.resolve(true);
      return new Promise((resolve) => {
        const settle = (isInTime: boolean) => {
          waiting.delete(wake);
          cancel();
          resolve(isInTime);
        };
        const wake = () => settle(true);
        const cancel = world.clock.after(timeoutMs, () => settle(false));
        waiting.add(wake);
      });
    },
    close() {
      control.stop();
      pools.close();
    },
  };
}

function isReady(snapshot: Snapshot): boolean {
  return snapshot.endpoints.some((endpoint) => endpoint.phase === "ready");
}

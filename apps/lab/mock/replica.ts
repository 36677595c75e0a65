import { Adapters } from "./adapters.ts";
import { Engine } from "./engine.ts";
import { FaultSwitch } from "./faults.ts";
import { Listener } from "./listener.ts";
import { Metrics } from "./metrics.ts";
import { type MockOptions, settingsOf } from "./options.ts";
import { serveUpgrade } from "./realtime.ts";
import { API_PATHS } from "./routes.ts";
import { Seen } from "./seen.ts";
import { serve } from "./serve.ts";
import type { ReplicaState } from "./state.ts";
import { Transfers } from "./transfer/transfers.ts";

/** A running mock replica. */
export type MockReplica = Awaited<ReturnType<typeof startMockReplica>>;

/** Starts a replica with the HTTP interface of a vLLM server. It computes nothing and takes as long as a real one. */
export async function startMockReplica(options: MockOptions) {
  const settings = settingsOf(options);
  const engine = new Engine(settings);
  const newListener = () =>
    new Listener(
      settings,
      (request, response, connection) => void serve(state, { request, response, connection }),
      (request, socket, ahead) => serveUpgrade(state, request, socket, ahead),
    );
  const listener = newListener();
  const listeners = settings.bootstrapPort === 0 ? [listener] : [listener, newListener()];
  let cancelReopen = () => {};
  /** Closes the port for good (true) or for that many milliseconds, or opens it again (undefined). */
  async function refuse(value: true | number | undefined): Promise<void> {
    cancelReopen();
    const open = async () => void (await Promise.all(listeners.map((each) => each.open())));
    if (value === undefined) return open();
    for (const each of listeners) each.shut();
    // If another process has taken the port meanwhile, this replica stays closed.
    if (value !== true) cancelReopen = settings.clock.after(value, () => void open().catch(() => {}));
  }
  const close = () => {
    for (const each of listeners) each.close();
  };
  const die = (value: true | number) => {
    close();
    return refuse(value);
  };
  const faults = new FaultSwitch(API_PATHS, refuse);
  const seen = new Seen(settings.seenLimit);
  const transfers = new Transfers(settings, engine.shared, { port: () => listener.port, die }, () => seen.changed());
  const state: ReplicaState = {
    settings,
    engine,
    metrics: new Metrics(settings, engine, transfers),
    adapters: new Adapters(settings),
    faults,
    seen,
    transfers,
    isLoaded: settings.loadingMs === 0,
  };
  engine.onChange = () => {
    state.metrics.adaptersChanged();
    seen.changed();
  };
  try {
    await listener.open(settings.port);
    await listeners[1]?.open(settings.bootstrapPort);
    await faults.apply(settings.faults);
  } catch (error) {
    close();
    throw error;
  }
  const cancelLoading = startLoading(state);
  return {
    url: `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${listener.port}`,
    port: listener.port,
    /** The engine's load now; `kvUsage` in [0, 1]. */
    get load() {
      return { running: engine.running, waiting: engine.waiting, kvUsage: engine.cache.usage };
    },
    faults: state.faults,
    seen: state.seen,
    transfers: state.transfers,
    adapters: state.adapters,
    /** How often its engine has loaded an adapter. */
    adapterLoads: engine.slots.loads,
    async close() {
      cancelLoading();
      cancelReopen();
      transfers.close();
      engine.close();
      close();
    },
  };
}

function startLoading(state: ReplicaState): () => void {
  const { loadingMs, whileLoading, clock } = state.settings;
  if (state.isLoaded) return () => {};
  if (whileLoading === "refused") void state.faults.set("refuse", loadingMs);
  return clock.after(loadingMs, () => {
    state.isLoaded = true;
  });
}

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

/** A running mock replica. */
export type MockReplica = Awaited<ReturnType<typeof startMockReplica>>;

/** Starts a replica with the HTTP interface of a vLLM server. It computes nothing and takes as long as a real one. */
export async function startMockReplica(options: MockOptions) {
  const settings = settingsOf(options);
  const engine = new Engine(settings);
  const metrics = new Metrics(settings, engine);
  const listener = new Listener(
    settings,
    (request, response, connection) => void serve(state, { request, response, connection }),
    (request, socket, ahead) => serveUpgrade(state, request, socket, ahead),
  );
  let cancelReopen = () => {};
  /** Closes the port for good (true) or for that many milliseconds, or opens it again (undefined). */
  async function refuse(value: true | number | undefined): Promise<void> {
    cancelReopen();
    if (value === undefined) return listener.open();
    listener.shut();
    // If another process has taken the port meanwhile, this replica stays closed.
    if (value !== true) cancelReopen = settings.clock.after(value, () => void listener.open().catch(() => {}));
  }
  const state: ReplicaState = {
    settings,
    engine,
    metrics,
    adapters: new Adapters(settings),
    faults: new FaultSwitch(API_PATHS, refuse),
    seen: new Seen(settings.seenLimit),
    isLoaded: settings.loadingMs === 0,
  };
  engine.onChange = () => {
    metrics.adaptersChanged();
    state.seen.changed();
  };
  await listener.open(settings.port);
  await state.faults.apply(settings.faults).catch((error: unknown) => {
    listener.close();
    throw error;
  });
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
    adapters: state.adapters,
    async close() {
      cancelLoading();
      cancelReopen();
      engine.close();
      listener.close();
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

/** What SIGHUP does. Registered before there is a config to reload, since the signal would end the process otherwise. */
export interface ReloadSignal {
  /** Calls `run` at each SIGHUP from now on, and at once if there was one before. */
  listen(run: () => void): void;
}

export function reloadSignal(): ReloadSignal {
  let run: (() => void) | undefined;
  let wasEarly = false;
  process.on("SIGHUP", () => {
    if (run === undefined) wasEarly = true;
    else run();
  });
  return {
    listen(listener) {
      run = listener;
      if (wasEarly) listener();
    },
  };
}

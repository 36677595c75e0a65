/**
 * Ctrl-C reaches every process of a terminal, and "npm start" passes on what it gets itself: one key press can come twice. So a
 * signal within this time of the first one is the same one.
 */
const SAME_SIGNAL_MS = 500;

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, with exit code 130. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const stop = () => {
      const nowMs = performance.now();
      firstMs ??= nowMs;
      if (nowMs - firstMs > SAME_SIGNAL_MS) process.exit(130);
      resolve();
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });
}

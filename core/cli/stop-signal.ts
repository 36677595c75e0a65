/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, with exit code 130. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    const stop = () => {
      count += 1;
      if (count > 1) process.exit(130);
      resolve();
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });
}

/** The program, which gets signals as soon as its first lines have run. Fails if something else listens for them before those do. */
const SIGNALS = ["SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGHUP"] as const;

const listenFor = process.on.bind(process) as (...given: unknown[]) => NodeJS.Process;
let isFirst = true;
process.on = ((signal: unknown, listener: unknown) => {
  if (signal === "SIGUSR2" && isFirst) {
    isFirst = false;
    const { stack = "" } = new Error();
    if (!stack.includes("early-signals.mjs")) throw new Error(`Signals are listened for too late: ${stack}`);
    setTimeout(() => {
      for (const each of SIGNALS) process.kill(process.pid, each);
    }, 0);
  }
  return listenFor(signal, listener);
}) as typeof process.on;

await import(new URL("../../apps/cli/signalbox.mjs", import.meta.url).href);

export {};

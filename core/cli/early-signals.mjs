// Before anything else is loaded: a router that is told to start must not die of a signal, nor open Node's debugger (SIGUSR1). Its log
// tells of these signals once it is there (core/cli/start/signals.ts).
if (process.argv[2] === "start") for (const signal of ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});

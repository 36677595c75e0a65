const IS_DENO = "deno" in process.versions;

let isAskedFor = false;

/** Ends the process by the program's own decision. */
export function exit(code: number): never {
  isAskedFor = true;
  process.exit(code);
}

/** Calls `run` when something else than `exit` ends the process by a call, before it is over. */
export function onStrayExit(run: () => void): void {
  const unlessAskedFor = () => {
    if (!isAskedFor) run();
  };
  // Deno's own `Deno.exit` tells no listener of `process`.
  if (IS_DENO) addEventListener("unload", unlessAskedFor);
  else process.on("exit", unlessAskedFor);
}

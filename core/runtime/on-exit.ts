const IS_DENO = "deno" in process.versions;

/** Calls `run` when something ends the process by a call, before it is over. Returns what undoes that. */
export function onExit(run: () => void): () => void {
  if (!IS_DENO) {
    process.on("exit", run);
    return () => void process.off("exit", run);
  }
  // Deno's own `Deno.exit` tells no listener of `process`.
  addEventListener("unload", run);
  return () => removeEventListener("unload", run);
}

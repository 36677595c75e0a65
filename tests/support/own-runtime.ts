/** How to run a TypeScript file as a process of its own on the runtime that runs the test. */
export function onThisRuntime(file: string): { readonly command: string; readonly args: readonly string[] } {
  const { execPath: command, features, versions } = process;
  if (versions["deno"] !== undefined) return { command, args: ["run", "-A", "--no-check", "--quiet", "--no-lock", file] };
  if (versions["bun"] !== undefined) return { command, args: ["run", file] };
  return { command, args: "typescript" in features && features.typescript ? [file] : ["--import", "tsx", file] };
}

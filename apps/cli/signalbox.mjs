#!/usr/bin/env node
// Where the program begins in a checkout. Newer Nodes, Deno and Bun read TypeScript themselves; Node 20 needs help.
import "./early-signals.mjs";

const { bun, deno } = process.versions;
if (bun || deno || process.features.typescript) {
  await import("./main.ts");
} else {
  const tsx = await import("tsx/esm/api").catch(() => undefined);
  tsx?.register();
  if (tsx) await import("./main.ts");
  else {
    console.error("This Node can't run TypeScript by itself: npm ci (without --omit=dev) brings tsx, or take Node 24.");
    process.exitCode = 1;
  }
}

/**
 * Lets a hundred clients of all kinds use the router while replicas are killed, wedged, slowed, made to fail and restarted with
 * another model, and while plugins break their contracts; counts what must not happen:
 * `npm run soak -- [--minutes 2] [--runtime node|deno|bun] [--clients 100] [--seed N]`. The runtimes run side by side. Exit code 1
 * if it did.
 */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { problemsOf, summaryOf } from "./report.ts";
import { RUNTIMES, type Runtime } from "./router.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    runtime: { type: "string" },
    clients: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
  },
});
const options = { minutes: Number(values.minutes), clients: Number(values.clients), seed: Number(values.seed) };
const runtime = RUNTIMES.find((each) => each === values.runtime);
const isValid =
  options.minutes > 0 && options.clients >= 1 && Number.isInteger(options.clients) && Number.isInteger(options.seed);
if (!isValid || (values.runtime !== undefined && runtime === undefined)) {
  console.error(`Usage: npm run soak -- [--minutes N] [--runtime ${RUNTIMES.join("|")}] [--clients N] [--seed N]`);
  process.exit(2);
}
// The router ends with this process, also when this one is told to stop.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const results = runtime === undefined ? await Promise.all(RUNTIMES.map(runInProcess)) : [await run(runtime)];
process.exitCode = results.every(Boolean) ? 0 : 1;

/** Runs the soak on one runtime, prints what it found, and resolves to whether it passed. */
async function run(runtime: Runtime): Promise<boolean> {
  const findings = await soak({ runtime, ...options }).catch((error: Error) => error);
  if (findings instanceof Error) {
    console.log(`soak on ${runtime}: FAILED, it could not be run: ${findings.stack}`);
    return false;
  }
  const problems = problemsOf(findings);
  const summary = summaryOf({ runtime, ...options }, findings, problems.length === 0);
  console.log([summary, ...problems.map((problem) => `  ${runtime}: ${problem}`)].join("\n"));
  return problems.length === 0;
}

/** The same in a process of its own, so that clients and replicas of one runtime do not wait for those of another. */
function runInProcess(runtime: Runtime): Promise<boolean> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1), "--runtime", runtime], {
    stdio: "inherit",
  });
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  return new Promise((resolve) =>
    child.once("exit", (code) => {
      process.off("exit", stop);
      if (code !== 0 && code !== 1) console.log(`soak on ${runtime}: FAILED, its process ended with code ${code}`);
      resolve(code === 0);
    }),
  );
}

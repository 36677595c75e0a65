import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Figures } from "./verdict.ts";
import type { Job } from "./worker.ts";

/** Runs all jobs on `count` processes; the results are in the jobs' order. `progress` is told how many are done. Rejects when one fails. */
export async function runJobs(
  jobs: readonly Job[],
  count: number,
  progress: (done: number) => void,
): Promise<readonly Figures[]> {
  const results: Figures[] = [];
  const queue = jobs.entries();
  let done = 0;
  const children = Array.from({ length: Math.min(count, jobs.length) }, startWorker);
  try {
    await Promise.all(
      children.map(async (child) => {
        for (const [index, job] of queue) {
          results[index] = await ask(child, job);
          done += 1;
          progress(done);
        }
      }),
    );
  } finally {
    for (const child of children) child.kill();
  }
  return results;
}

function startWorker(): ChildProcess {
  return fork(join(import.meta.dirname, "worker.ts"), { execArgv: ["--import", "tsx"] });
}

function ask(child: ChildProcess, job: Job): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error(`A simulation of ${job.config} failed; what it said is above.`));
    child.once("exit", failed);
    child.once("message", (figures) => {
      child.off("exit", failed);
      resolve(figures as Figures);
    });
    child.send(job);
  });
}

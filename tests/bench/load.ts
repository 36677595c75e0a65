/** The load driver, a process of its own: does one job after the other as main.ts asks. Ends when main.ts is gone. */
import { type StreamsJob, type StreamsResult, streams } from "./load-streams.ts";
import {
  type ClosedLoopJob,
  type ClosedLoopResult,
  closedLoop,
  type OpenLoopJob,
  type OpenLoopResult,
  openLoop,
} from "./load-unary.ts";

export type Job = ClosedLoopJob | OpenLoopJob | StreamsJob;
export type ResultOf<J extends Job> = J extends ClosedLoopJob
  ? ClosedLoopResult
  : J extends OpenLoopJob
    ? OpenLoopResult
    : StreamsResult;

function run(job: Job): Promise<ResultOf<Job>> {
  switch (job.kind) {
    case "closed-loop":
      return closedLoop(job);
    case "open-loop":
      return openLoop(job);
    case "streams":
      return streams(job);
  }
}

process.on("disconnect", () => process.exit());
process.on("message", (job: Job) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (thrown: unknown) => process.send?.({ error: String(thrown) }),
  );
});

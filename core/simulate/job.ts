import { EngineJob } from "../engine/engine-model.ts";
import type { TraceRequest } from "./trace.ts";

/** One request of a trace inside a replica. Until it is admitted, its `cachedTokens` are those expected when it came. */
export class Job extends EngineJob {
  readonly request: TraceRequest;

  constructor(request: TraceRequest) {
    super(request.prompt, request.outputTokens);
    this.request = request;
  }
}

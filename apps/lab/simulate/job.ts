import { EngineJob } from "../engine/engine-model.ts";
import type { TraceRequest } from "./trace.ts";

/** A prompt that one replica has computed, and that another one may fetch. */
export interface Offer {
  readonly source: OfferSource;
  readonly job: Job;
}

/** The replica that has it. */
export interface OfferSource {
  /** Whether another replica can still fetch what was computed for a finished request. */
  keeps(job: Job): boolean;
  /** Nobody fetches it any more: others get its blocks. */
  release(job: Job): void;
}

/** One request of a trace inside a replica. Until it is admitted, its `cachedTokens` are those expected when it came. */
export class Job extends EngineJob {
  readonly request: TraceRequest;
  /** What another replica computed of it; it comes before the first token here. */
  readonly offer: Offer | undefined;

  constructor(request: TraceRequest, offer?: Offer, outputTokens = request.outputTokens) {
    super(request.prompt, outputTokens);
    this.request = request;
    this.offer = offer;
    this.awaitsTransfer = offer !== undefined;
  }

  /** Prompt tokens that no replica computed for it. */
  get foundTokens(): number {
    return this.offer?.job.cachedTokens ?? this.cachedTokens;
  }
}

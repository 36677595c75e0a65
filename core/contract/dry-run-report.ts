import { type ChoiceReport, choiceReport, type Refusal } from "./choice-report.ts";
import type { Decision } from "./decision.ts";
import { NO_PREFIX } from "./prefix-match.ts";
import type { InferenceRequest } from "./request.ts";

/** What would be decided about a request now: plain JSON, in which null is unknown. */
export interface DryRunReport extends ChoiceReport {
  readonly isDryRun: true;
  /** When the facts were as they were for this decision, in ISO 8601. */
  readonly time: string;
  readonly path: string;
  readonly requestBytes: number;
  /** What the reader should know of these numbers, each in one sentence. */
  readonly notes: readonly string[];
}

const NO_INDEX = "No plugin of this profile reads prompts, so nothing is known of what is cached.";

/** `time` in ISO 8601; `notes` replace those about the prefix index. */
export function dryRunReport(
  request: InferenceRequest,
  decision: Decision,
  time: string,
  notes: readonly string[] = request.prefix === NO_PREFIX ? [NO_INDEX] : [],
): DryRunReport {
  const { refusal } = decision;
  return {
    isDryRun: true,
    time,
    path: request.path,
    requestBytes: request.body.length,
    notes,
    ...choiceReport(request, decision, refusal && refusalReport(refusal)),
  };
}

const refusalReport = ({ code, message }: Refusal): Refusal => ({ code, message });

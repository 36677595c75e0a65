import { RouterError } from "../../core/contract/errors.ts";
import type { EndedRequest } from "../../core/report/decision-report.ts";

/** Whether a listener wants to hear of a request that has ended. */
export type DecisionFilter = (ended: EndedRequest) => boolean;

/** The parameters of a query from which `decisionFilter` makes a filter. */
export const FILTER_PARAMETERS = [
  { name: "model", meaning: "Only requests for this model, or that were sent on under this name." },
  { name: "status", meaning: "Only these, such as 502, 5xx or 429,5xx; 0 is a client that left before it got a status." },
  { name: "endpoint", meaning: "Only requests that were tried there." },
  { name: "slow", meaning: "Only requests that took at least so many milliseconds." },
] as const;

/** A filter of all the query's parameters together. Throws RouterError that says what a parameter must be. */
export function decisionFilter(query: URLSearchParams): DecisionFilter {
  const filters: DecisionFilter[] = [];
  const add = (name: (typeof FILTER_PARAMETERS)[number]["name"], make: (text: string) => DecisionFilter) => {
    const text = query.get(name);
    if (text !== null) filters.push(make(text));
  };
  add("model", byModel);
  add("status", byStatus);
  add("endpoint", byEndpoint);
  add("slow", byDuration);
  return (ended) => filters.every((filter) => filter(ended));
}

function byModel(model: string): DecisionFilter {
  if (model === "") throw invalid('"model" wants the name of a model; leave it out for all.');
  return ({ decision }) => decision?.model === model || decision?.target === model;
}

function byStatus(text: string): DecisionFilter {
  const wanted = text.toLowerCase().split(",");
  if (!wanted.every((each) => /^(0|[1-5](\d\d|xx))$/.test(each)))
    throw invalid('"status" wants a status such as 502, a class such as 5xx, or several with commas between them.');
  return ({ status }) => wanted.some((each) => each === String(status) || each === `${Math.floor(status / 100)}xx`);
}

function byEndpoint(endpoint: string): DecisionFilter {
  if (endpoint === "") throw invalid('"endpoint" wants the name of a replica; leave it out for all.');
  return ({ attempts }) => attempts.some((attempt) => attempt.endpoint === endpoint);
}

function byDuration(text: string): DecisionFilter {
  const leastMs = Number(text);
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(text)) throw invalid('"slow" wants a number of milliseconds, such as 2000.');
  return ({ durationMs }) => durationMs >= leastMs;
}

const invalid = (message: string) => new RouterError("invalid_value", message);

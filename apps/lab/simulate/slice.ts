import type { Trace } from "./trace.ts";

export interface Slice {
  /** Where it begins, in minutes of the trace. */
  readonly fromMinute: number;
  readonly minutes: number;
  readonly mostRequests: number;
}

/** A part of a trace as a trace of its own: its first request arrives at 0. Throws an Error when the part holds no request. */
export function sliceOf(trace: Trace, { fromMinute, minutes, mostRequests }: Slice): Trace {
  const fromMs = fromMinute * 60_000;
  const endMs = fromMs + minutes * 60_000;
  const requests = trace.requests.filter(({ atMs }) => atMs >= fromMs && atMs < endMs).slice(0, mostRequests);
  const [first] = requests;
  if (first === undefined)
    throw new Error(
      `${trace.name} has no request in the ${minutes} minutes from minute ${fromMinute} on; choose others with --from.`,
    );
  return { ...trace, requests: requests.map((request) => ({ ...request, atMs: request.atMs - first.atMs })) };
}

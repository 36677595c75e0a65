import type { Exchange } from "./exchange.ts";
import type { StatusFault } from "./faults.ts";
import { Problem, problemBody } from "./problem.ts";

/** Responds with the status that a fault says. */
export function answerStatus(exchange: Exchange, fault: number | StatusFault): void {
  const { status, retryAfterS, body }: StatusFault = typeof fault === "number" ? { status: fault } : fault;
  const type = status === 429 ? "RateLimitError" : "InternalServerError";
  const problem = new Problem(status, type, `A fault makes this replica respond with ${status}.`);
  const headers = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
  exchange.json(status, body ?? problemBody(problem, exchange.record.path.startsWith("/v1/messages")), headers);
}

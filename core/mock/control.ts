import type { Exchange } from "./exchange.ts";
import { FaultError } from "./faults.ts";
import { parseBody } from "./fields.ts";
import { Problem } from "./problem.ts";
import { seenAsJson } from "./seen.ts";
import type { ReplicaState } from "./state.ts";

/**
 * Lets a test in another process set faults and read the requests received:
 * GET, POST and DELETE /mock/faults, GET and DELETE /mock/seen.
 */
export async function answerControl(exchange: Exchange, state: ReplicaState): Promise<void> {
  try {
    exchange.json(200, await controlAnswer(exchange, state));
  } catch (error) {
    if (error instanceof Problem) exchange.problem(error, false);
    else exchange.json(400, { error: error instanceof FaultError ? error.message : String(error) });
  }
}

async function controlAnswer(exchange: Exchange, { faults, seen }: ReplicaState): Promise<unknown> {
  const { method, path, body } = exchange.record;
  switch (`${method} ${path}`) {
    case "GET /mock/faults":
      return { faults: faults.show() };
    case "POST /mock/faults":
      await faults.apply(parseBody(body));
      return { faults: faults.show() };
    case "DELETE /mock/faults":
      await faults.clear();
      return { faults: faults.show() };
    case "GET /mock/seen":
      return { requests: seen.requests.map(seenAsJson) };
    case "DELETE /mock/seen":
      seen.clear();
      return { requests: [] };
    default:
      throw new Problem(404, "NotFoundError", "The mock knows /mock/faults (GET, POST, DELETE) and /mock/seen (GET, DELETE).");
  }
}

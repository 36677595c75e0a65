import { type ArrivedRequest, Exchange } from "./exchange.ts";
import { FaultError, type Faults } from "./faults.ts";
import { parseBody } from "./fields.ts";
import { transferAnswer } from "./legs/control.ts";
import { Problem } from "./problem.ts";
import { findRoute, type Route } from "./routes.ts";
import { Seen, seenAsJson } from "./seen.ts";
import type { ReplicaState } from "./state.ts";
import { answerStatus } from "./status-fault.ts";

/** Reads one request, applies the faults meant for it, and responds. */
export async function serve(state: ReplicaState, arrived: ArrivedRequest): Promise<void> {
  const path = (arrived.request.url ?? "/").split("?")[0] ?? "/";
  const { clock } = state.settings;
  if (path.startsWith("/mock/")) {
    const exchange = new Exchange({ ...arrived, path, clock, faults: {}, seen: new Seen(1) });
    if (await exchange.readBody()) await answerControl(exchange, state);
    return;
  }
  const faults = state.faults.claim(path);
  const exchange = new Exchange({ ...arrived, path, clock, faults, seen: state.seen });
  if (faults.resetOnReuse && arrived.connection.uses > 1) {
    exchange.cut(true);
    return;
  }
  if (!(await exchange.readBody())) return;
  const { slowMs } = faults;
  if (slowMs !== undefined) await new Promise<void>((resolve) => clock.after(slowMs, resolve));
  await state.adapters.prepare(exchange.record.body);
  if (!strikes(faults, exchange)) answer(exchange, state);
}

/** Applies the faults after which there is no valid response. Returns true if one applied. */
function strikes(faults: Partial<Faults>, exchange: Exchange): boolean {
  if (faults.hang) return true;
  if (faults.reset) exchange.cut(true);
  else if (faults.malformedHead) exchange.sendRaw("HTTP/1.1 2x0 Fine\r\nno colon here\r\n\r\n");
  else return false;
  return true;
}

function answer(exchange: Exchange, state: ReplicaState): void {
  const route = findRoute(exchange.record.path, state.settings.isEmbedding);
  const isAnthropic = route?.isAnthropic ?? false;
  const { status } = exchange.faults;
  try {
    if (status !== undefined) answerStatus(exchange, status);
    else if (!isAuthorized(exchange, state.settings.apiKey)) exchange.json(401, { error: "Unauthorized" });
    else if (route) answerRoute(exchange, state, route);
    else exchange.json(404, { detail: "Not Found" });
  } catch (error) {
    exchange.problem(error instanceof Problem ? error : new Problem(500, "InternalServerError", String(error)), isAnthropic);
  }
}

/** As in vLLM: only paths under /v1 want the key. */
function isAuthorized({ record: { path, headers } }: Exchange, apiKey: string): boolean {
  if (apiKey === "" || !path.startsWith("/v1")) return true;
  return headers.some(([name, value]) => name.toLowerCase() === "authorization" && value === `Bearer ${apiKey}`);
}

function answerRoute(exchange: Exchange, state: ReplicaState, route: Route): void {
  const { method, path } = exchange.record;
  const handler = route.methods[method];
  if (!handler) {
    exchange.json(405, { detail: "Method Not Allowed" }, { allow: Object.keys(route.methods).join(", ") });
    return;
  }
  const isLoading = exchange.faults.loading || !state.isLoaded;
  if (isLoading && path !== "/health") throw new Problem(503, "ServiceUnavailableError", "The model is still loading.");
  handler(exchange, state);
}

/**
 * Lets a test in another process set faults and read the requests received:
 * GET, POST and DELETE /mock/faults, GET and DELETE /mock/seen, GET /mock/transfers. Other mocks ask for blocks here.
 */
async function answerControl(exchange: Exchange, state: ReplicaState): Promise<void> {
  try {
    const said = await transferAnswer(exchange, state);
    if (said) exchange.json(said.status, said.body);
    else exchange.json(200, await controlAnswer(exchange, state));
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
      throw new Problem(
        404,
        "NotFoundError",
        "The mock knows /mock/faults (GET, POST, DELETE), /mock/seen (GET, DELETE) and /mock/transfers (GET).",
      );
  }
}

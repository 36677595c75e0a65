import type { Exchange } from "../exchange.ts";
import { type JsonObject, parseBody } from "../fields.ts";
import { badRequest } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import type { Refusal } from "../transfer/held.ts";

/** What one mock replica says to another. */
interface Said {
  readonly status: number;
  readonly body: object;
}

const WHY: Readonly<Record<Refusal, string>> = {
  unknown: "no prefill leg was answered with this remote_request_id",
  fetched: "its blocks were fetched already, and each can be fetched once",
  expired: "its blocks were held too long, and are gone",
  claimed: "another decode leg is fetching its blocks",
  different: "the prefill leg had another prompt, model or salt",
};

/** What other mock replicas ask for: blocks that are held here, and rooms. Undefined for another path. */
export async function transferAnswer(exchange: Exchange, state: ReplicaState): Promise<Said | undefined> {
  const { method, path, body } = exchange.record;
  switch (`${method} ${path}`) {
    case "GET /mock/transfers":
      return { status: 200, body: factsOf(state) };
    case "POST /mock/transfer/claim":
      return claim(parseBody(body), state);
    case "POST /mock/transfer/read":
      return read(parseBody(body), exchange, state);
    case "POST /mock/transfer/room":
      return meet(parseBody(body), exchange, state);
    default:
      return undefined;
  }
}

function factsOf({ transfers: { engineId, held, rooms, failed } }: ReplicaState): object {
  return {
    engineId,
    holding: held.count,
    reading: held.reading,
    blocks: held.blocks,
    ...held.totals,
    failed,
    rooms: rooms.count,
  };
}

function claim(body: JsonObject, { transfers }: ReplicaState): Said {
  const [engineId, requestId] = [textIn(body, "engineId"), textIn(body, "requestId")];
  if (engineId !== transfers.engineId) return refused("engine", `the engine ${engineId} is not here`);
  const refusal = transfers.held.claim(requestId, textIn(body, "digest"));
  return refusal === undefined ? { status: 200, body: {} } : refused(refusal, WHY[refusal]);
}

const refused = (refusal: string, why: string): Said => ({
  status: 409,
  body: { refusal, error: `There is nothing to transfer: ${why}.` },
});

/** Answers when the blocks have moved, so that the reader notices at once when this replica dies. */
async function read(body: JsonObject, exchange: Exchange, { transfers }: ReplicaState): Promise<Said> {
  const takesMs = millisecondsIn(body);
  const isHere = textIn(body, "engineId") === transfers.engineId;
  const end = isHere ? transfers.held.read(textIn(body, "requestId")) : undefined;
  if (end === undefined) return refused("unknown", WHY.unknown);
  exchange.onEnd(() => end(false));
  await transfers.wait(takesMs);
  end(true);
  return { status: 200, body: {} };
}

/** The decode leg's side of a room; answers when the blocks have moved. */
async function meet(body: JsonObject, exchange: Exchange, { transfers }: ReplicaState): Promise<Said> {
  const takesMs = millisecondsIn(body);
  const place = transfers.rooms.enter(textIn(body, "room"), "decode", textIn(body, "digest"));
  if (typeof place === "string") return { status: 409, body: { error: place } };
  exchange.onEnd(() => place.leave("The decode leg is gone."));
  try {
    await place.computed;
    await transfers.wait(takesMs);
    place.setMoved();
    await place.moved;
    return { status: 200, body: {} };
  } catch (error) {
    return { status: 410, body: { error: error instanceof Error ? error.message : String(error) } };
  }
}

function textIn(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value === "string") return value;
  throw badRequest(`${name} has to be a text.`, name);
}

function millisecondsIn(body: JsonObject): number {
  const value = body["takesMs"];
  if (typeof value === "number" && value >= 0) return value;
  throw badRequest("takesMs has to be a number.", "takesMs");
}

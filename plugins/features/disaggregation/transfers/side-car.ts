import { addressOf } from "../../../../core/pool/gateway.ts";
import type { Transfer } from "../transfer.ts";

/** The reference router's, for which a side-car in front of the answer's engine, or a gateway in front of both, makes the exchange. No client may send it. */
export const PREFILLER = "x-prefiller-host-port";

/** The reference router's side-car: it is told of the prompt's endpoint, and sends the request there first by itself. */
export const sideCar: Transfer = {
  type: "side-car",
  order: "told",
  answersAlone: true,
  keys: [],
  reservedKeys: [],
  decodeMembers: () => [],
  decodeLine: (prefill) => `${PREFILLER}: ${addressOf(prefill)}\r\n`,
};

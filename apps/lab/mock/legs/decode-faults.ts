import type { Exchange } from "../exchange.ts";
import type { ReplicaState } from "../state.ts";
import { answerStatus } from "../status-fault.ts";

/** Takes the faults of a decode leg: what its transfer takes besides, in milliseconds; undefined where it has been refused. */
export function claimedSlowMs(exchange: Exchange, { faults }: ReplicaState): number | undefined {
  const { refuseTransfer, slowTransferMs = 0 } = faults.claim("decode");
  if (refuseTransfer === undefined) return slowTransferMs;
  answerStatus(exchange, refuseTransfer);
  return undefined;
}

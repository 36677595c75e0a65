import type { Draft } from "../../../core/contract/draft.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { makeDraft } from "../../../core/request/draft.ts";
import type { Run } from "../../../core/run.ts";
import type { Pair, Transfer } from "./transfer.ts";

/** All of the request, as a client without a pair has it sent. */
export function wholeDraft(run: Run): Draft {
  return makeDraft(run.ticket.request!, run, run.ticket.trace);
}

/** The request for the answer's endpoint, or for a gateway in front of it, which asks the prompt's endpoint by itself. */
export function toldDraft(run: Run, transfer: Transfer, prefill: Endpoint): Draft {
  const whole = wholeDraft(run);
  return { ...whole, lines: transfer.decodeLine!(prefill) + whole.lines, role: "decode" };
}

export function promptDraft(run: Run, transfer: Transfer, pair: Pair): Draft {
  return { ...makeDraft(run.ticket.request!, run, run.ticket.trace, transfer.prefillMembers!(run, pair)), role: "prefill" };
}

/** Undefined where the prompt's response says nothing of a transfer. */
export function answerDraft(run: Run, transfer: Transfer, pair: Pair, response: Uint8Array): Draft | undefined {
  const members = transfer.decodeMembers(run, pair, response);
  return members && { ...makeDraft(run.ticket.request!, run, run.ticket.trace, members), role: "decode" };
}

import type { RequestRun } from "../../../../core/contract/slots/request-run.ts";
import type { Pair, Transfer } from "../transfer.ts";
import { member } from "./members.ts";

/** Where SGLang's server for meetings listens beside a prompt's server, unless the label says otherwise. */
const USUAL_PORT = "8998";
const PORT_LABEL = "signalbox/bootstrap-port";

/** SGLang: both engines get the request at once, and meet at a room of the prompt's engine. One that only decodes can't do without. */
export const sglang: Transfer = {
  type: "sglang",
  order: "together",
  answersAlone: false,
  keys: ["bootstrap_host", "bootstrap_port", "bootstrap_room"],
  reservedKeys: ["bootstrap_host", "bootstrap_port", "bootstrap_room"],
  prefillMembers: meeting,
  decodeMembers: meeting,
};

function meeting({ body }: RequestRun, { prefill, room }: Pair) {
  return [
    member(body!, "bootstrap_host", JSON.stringify(prefill.url.hostname)),
    member(body!, "bootstrap_port", portOf(prefill.labels[PORT_LABEL])),
    member(body!, "bootstrap_room", room),
  ];
}

function portOf(label = USUAL_PORT): string {
  return /^[1-9]\d{0,4}$/.test(label) ? label : USUAL_PORT;
}

import { bodyTooLarge } from "../../../core/body/receive.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { DecodedBody } from "./decoded-body.ts";
import type { Inflater } from "./inflater.ts";

/** Inflates a whole body by the rules of one that comes in pieces. Rejects with the RouterError that a client would get. */
export function decodeWhole(inflater: Inflater, body: Uint8Array, mostRatio: number, mostBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    const receiver: RequestReceiver = {
      body(made) {
        parts.push(made);
        bytes += made.length;
        if (bytes > mostBytes) decoder.refuse(bodyTooLarge(mostBytes));
      },
      bodyEnd: () => resolve(Buffer.concat(parts)),
      refuse: reject,
      clientGone() {},
      drained() {},
      stop() {},
    };
    const decoder = new DecodedBody(inflater, { hasStarted: false, holdBody() {} }, receiver, mostRatio);
    decoder.body(body, 0, body.length);
    decoder.bodyEnd();
  });
}

import type { Clock } from "../../../../core/contract/clock.ts";
import type { EndpointUrl } from "../../../../core/contract/endpoint.ts";
import { afterAwake } from "../../../../core/contract/standstill.ts";
import type { ReplayOwner } from "../../../../core/pool/engine-wire.ts";
import { ZmtpConnection } from "./connection.ts";

export interface ReplayOptions {
  readonly clock: Clock;
  readonly url: EndpointUrl;
  /** The number of the first message that is wanted. */
  readonly from: number;
  readonly maxBytes: number;
}

/** From one message to the next. A publisher looks for such questions every 100 ms. */
const SILENCE_MS = 5_000;
/** For all of it. */
const WHOLE_MS = 60_000;

/** Asks a publisher for what it sent since a number, as vLLM and SGLang answer it (ROUTER). The returned function gives it up. */
export function replay({ clock, url, from, maxBytes }: ReplayOptions, owner: ReplayOwner): () => void {
  let isOver = false;
  let cancelSilence = () => {};
  const end = (tell: () => void) => {
    if (isOver) return;
    stop();
    tell();
  };
  const stop = () => {
    isOver = true;
    cancelSilence();
    cancelWhole();
    connection.close();
  };
  const fail = (why: string) => end(() => owner.failed(why));
  const wait = () => {
    cancelSilence();
    cancelSilence = afterAwake(clock, SILENCE_MS, () => fail("it did not answer in time"));
  };
  const cancelWhole = afterAwake(clock, WHOLE_MS, () => fail("its answer takes too long"));
  const connection = new ZmtpConnection(
    { url, type: "DEALER", maxBytes },
    {
      opened: () => connection.send(new Uint8Array(0), sequenceBytes(from)),
      message(parts) {
        wait();
        // An empty part, then the topic in newer ones, the number and the payload.
        const payload = parts.at(-1);
        const sequence = sequenceOf(parts.at(-2));
        if (payload === undefined || sequence === undefined) throw new Error("its answer is no replay of events");
        if (sequence === LAST) end(() => owner.done());
        else owner.replayed(sequence, payload);
      },
      ended: fail,
    },
  );
  wait();
  return stop;
}

/** The number of what ends a replay: eight bytes of ones. */
const LAST = -1;

/** The number of a message; undefined for what is none. */
export function sequenceOf(bytes: Uint8Array | undefined): number | undefined {
  if (bytes?.length !== 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  const [high, low] = [view.getUint32(0), view.getUint32(4)];
  if (high === 0xffffffff && low === 0xffffffff) return LAST;
  return high < 2 ** 21 ? high * 2 ** 32 + low : undefined;
}

function sequenceBytes(sequence: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(sequence));
  return new Uint8Array(view.buffer);
}

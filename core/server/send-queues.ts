import type { Socket } from "node:net";
import { textOf } from "../runtime/read-text.ts";

/** Linux lists its TCP connections here: "sl: address:port address:port state tx_queue:rx_queue ...", all hexadecimal. */
const TABLES: readonly string[] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
const ROW = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/gm;

let queues: ReadonlyMap<number, number> = new Map();
let readAtMs = Number.NaN;

/**
 * How many bytes the kernel has been given for a connection that its peer has not acknowledged; undefined where the system does
 * not tell. The tables are read once for each `nowMs`: a read takes milliseconds, so ask only about connections that look stalled.
 */
export function unacknowledgedBytes({ localPort = 0, remotePort = 0 }: Socket, nowMs: number): number | undefined {
  if (nowMs !== readAtMs) queues = readQueues();
  readAtMs = nowMs;
  return queues.get(keyOf(localPort, remotePort));
}

/** Peers with the same port at different addresses share an entry: its change then says that one of them takes bytes. */
function readQueues(): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const table of TABLES) {
    for (const [, local = "", remote = "", queue = ""] of textOf(table).matchAll(ROW)) {
      const key = keyOf(Number.parseInt(local, 16), Number.parseInt(remote, 16));
      found.set(key, (found.get(key) ?? 0) + Number.parseInt(queue, 16));
    }
  }
  return found;
}

function keyOf(localPort: number, remotePort: number): number {
  return localPort * 65_536 + remotePort;
}

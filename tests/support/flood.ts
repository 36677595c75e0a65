import { openClient, type RawClient } from "./raw-client.ts";
import { waitUntil } from "./router.ts";
import { chatPost, STREAM } from "./scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "./scripted-replica.ts";

const FILLER = "x".repeat(16_000);

/** A replica's side of one flood. */
export interface Flood {
  /** Bytes the kernel has taken. */
  readonly sentBytes: number;
}

/** One event of a flood, told from the others by its number. */
export const floodEvent = (n: number) => `data: ${n} ${FILLER}\n\n`;

/** Streams so many numbered events as fast as they are taken. */
export function flood(floods: Flood[], events: number): Script {
  return (_request, socket) => {
    const before = socket.bytesWritten;
    floods.push({
      get sentBytes() {
        return socket.bytesWritten - before - socket.writableLength;
      },
    });
    let next = 0;
    const more = () => {
      while (next < events && !socket.destroyed) {
        if (!socket.write(chunkOf(floodEvent(next++)))) return void socket.once("drain", more);
      }
      socket.write(LAST_CHUNK);
    };
    socket.write(STREAM_HEAD);
    more();
  };
}

/** What all floods have sent, once it stays the same for a while. */
export async function standstill(floods: readonly Flood[]): Promise<number> {
  let last = Number.NaN;
  let sinceMs = 0;
  await waitUntil(() => {
    const sum = floods.reduce((total, { sentBytes }) => total + sentBytes, 0);
    if (sum !== last) sinceMs = performance.now();
    last = sum;
    return performance.now() - sinceMs > 300;
  }, 30_000);
  return last;
}

/** Asks for a stream and reads nothing of it. */
export async function stalledClient(port: number): Promise<RawClient> {
  const client = await openClient(port);
  client.socket.removeAllListeners("data");
  client.socket.pause();
  client.send(chatPost(STREAM, "Connection: close\r\n"));
  return client;
}

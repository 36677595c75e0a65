import { createServer } from "node:net";
import type { ListenAddress } from "../../../../core/router-config.ts";
import { portError } from "../port-error.ts";

/**
 * The port that all workers will listen on: the config's, or a free one where that is 0. Rejects with an Error that says what to change
 * when another program has it, since workers that share a port would share it with that program too.
 */
export async function claimPort(address: ListenAddress): Promise<number> {
  const { host, port, isPortShared } = address;
  // The operator wants it to be shared.
  if (isPortShared && port !== 0) return port;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ host, port }, resolve));
    const bound = server.address();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return typeof bound === "object" && bound !== null ? bound.port : port;
  } catch (thrown) {
    throw await portError(thrown, address, "--port", "--host");
  }
}

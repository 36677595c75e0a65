import { createServer, type ListenOptions, type Server } from "node:net";
import type { ListenAddress } from "../../../../core/router-config.ts";
import { portError } from "../port-error.ts";

export interface Claim {
  readonly port: number;
  /** The workers listen: from now on the port itself is taken. */
  release(): void;
}

/**
 * The port that all workers will listen on: the config's, or a free one where that is 0. Rejects with an Error that says what to change
 * when another program has it, since workers that share a port would share it with that program too.
 */
export async function claimPort(address: ListenAddress): Promise<Claim> {
  const { host, port, isPortShared } = address;
  // The operator wants it to be shared.
  if (isPortShared && port !== 0) return { port, release() {} };
  try {
    const server = await listening({ host, port });
    const bound = server.address();
    const claimed = typeof bound === "object" && bound !== null ? bound.port : port;
    try {
      return { port: claimed, release: await keptClaim(`${host}:${claimed}`) };
    } finally {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  } catch (thrown) {
    throw await portError(thrown, address, "--port", "--host");
  }
}

/**
 * Another program that starts at the same moment finds the port free too, before either has a worker that listens. A name in Linux's
 * abstract namespace belongs to one process, and goes with it however it ends. Returns what gives it back.
 */
async function keptClaim(name: string): Promise<() => void> {
  if (process.platform !== "linux") return () => {};
  const server = await listening({ path: `\0signalbox-workers-${name}` });
  server.on("connection", (socket) => socket.destroy());
  server.unref();
  return () => server.close();
}

function listening(options: ListenOptions): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(options, () => resolve(server));
  });
}

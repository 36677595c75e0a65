import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { onThisRuntime } from "./own-runtime.ts";

/** A replica that answers its probes until it swallows connects: then they are neither accepted nor refused. */
export interface BlackHole {
  readonly url: string;
  /** Stops the process and fills its backlog, so that the kernel drops every further SYN. */
  swallow(): Promise<void>;
  close(): void;
}

/** Bun has a backlog of 512 whatever it is asked for. */
const MOST_CONNECTS = 600;
/** A connect on the loopback that is not there after this long never will be. */
const HANG_MS = 300;

export async function startBlackHole(): Promise<BlackHole> {
  const { command, args } = onThisRuntime(join(import.meta.dirname ?? ".", "black-hole-process.ts"));
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", () => reject(new Error("The black hole's process ended before it listened")));
    child.stdout.once("data", (line: Buffer) => resolve(Number(line.toString())));
  });
  const fillers: Socket[] = [];
  return {
    url: `http://127.0.0.1:${port}`,
    async swallow() {
      child.kill("SIGSTOP");
      while (fillers.length < MOST_CONNECTS) {
        const filler = connect({ port, host: "127.0.0.1" });
        fillers.push(filler);
        if (!(await connects(filler))) return;
      }
      throw new Error("The backlog of the stopped process does not fill up");
    },
    close() {
      for (const filler of fillers) filler.destroy();
      child.kill("SIGKILL");
    },
  };
}

function connects(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), HANG_MS);
    socket.on("error", () => {});
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

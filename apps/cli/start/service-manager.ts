import { spawn } from "node:child_process";
import type { Log } from "../../../core/contract/log.ts";

/** So long a message may take. */
const LONGEST_MS = 10_000;

/**
 * Tells systemd how the program is, where the unit asks for it (`Type=notify`). Never throws, and waits for nothing.
 *
 * systemd listens on a Unix datagram socket, which Node and Bun can't send to. So its own program `systemd-notify` sends, one
 * message after the other, and the unit needs `NotifyAccess=all`. (`Type=notify-reload` would want the system's monotonic time
 * with a reload, which Deno and Bun do not tell.) Without NOTIFY_SOCKET in `env` nothing is sent.
 */
export function serviceManager(log: Log, env: NodeJS.ProcessEnv = process.env) {
  let sent = Promise.resolve();
  let hasFailed = false;
  const send = (assignment: string) => {
    if (!env["NOTIFY_SOCKET"]) return;
    sent = sent.then(async () => {
      const failure = await notify(assignment, env);
      if (failure === "" || hasFailed) return;
      hasFailed = true;
      log.warn("systemd can't be told of the router's state: install systemd-notify, or set Type=exec in the unit", {
        cause: failure,
      });
    });
  };
  return {
    /** It serves; also after a reload. */
    ready: () => send("READY=1"),
    /** It takes over a new config; `ready` ends that. */
    reloading: () => send("RELOADING=1"),
    /** It has begun to stop. */
    stopping: () => send("STOPPING=1"),
  };
}

/** Runs the program; resolves to why it failed, or to "". */
function notify(assignment: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("systemd-notify", [assignment], { stdio: "ignore", env, timeout: LONGEST_MS });
    // The program must not wait at its end for a service manager that does not read. (On Deno, a child that could not start has
    // no unref.)
    child.once("spawn", () => child.unref());
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(code === 0 ? "" : `systemd-notify ended with ${code ?? signal}`));
  });
}

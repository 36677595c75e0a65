import type { Address } from "../../../config/config.ts";
import { thrownCode } from "../../contract/thrown-text.ts";

/** A URL that reaches a server listening on this address from the same machine. */
export function urlOf(host: string, port: number, isTls = false): string {
  return `${isTls ? "https" : "http"}://${hostInUrl(host)}:${port}`;
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Codes for an address of another machine. Deno reports EINVAL instead of EADDRNOTAVAIL. */
const NOT_OURS: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND"]);

/** An Error that says why an address can't be listened on, and what to change. Any other error is returned as it is. */
export function portError(thrown: unknown, { host, port }: Address, portKey: string, hostKey: string): unknown {
  const code = thrownCode(thrown);
  if (code === "EADDRINUSE")
    return new Error(`${host}:${port} is in use; stop what listens there or choose another with ${portKey}.`);
  if (code === "EACCES") return new Error(`${host}:${port} may not be listened on; choose a port above 1023 with ${portKey}.`);
  if (NOT_OURS.has(code)) return new Error(`${host} is not an address of this machine; check ${hostKey}.`);
  return thrown;
}

/** Whether only programs of this machine reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

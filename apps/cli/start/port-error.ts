import { thrownCode } from "../../../core/contract/thrown-text.ts";
import type { Address } from "../../../core/router-config.ts";
import { freePortAfter, holderText } from "./taken-port.ts";

/** Codes for an address of another machine. Deno reports EINVAL instead of EADDRNOTAVAIL. */
const NOT_OURS: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND"]);

/**
 * An Error that says why an address can't be listened on, and what to change: `portSwitch` names another port, `otherwise` says what else
 * may be done. Any other error is returned as it is.
 */
export async function portError(
  thrown: unknown,
  { host, port }: Address,
  portSwitch: string,
  hostKey: string,
  otherwise = "",
): Promise<unknown> {
  const code = thrownCode(thrown);
  if (code === "EADDRINUSE") {
    const [holder, free] = [await holderText(host, port), await freePortAfter(host, port)];
    const other = free === undefined ? portSwitch : `${portSwitch}: ${free} is free`;
    return new Error(`${host}:${port} is in use${holder}; stop what listens there or choose another with ${other}${otherwise}.`);
  }
  if (code === "EACCES")
    return new Error(`${host}:${port} may not be listened on; choose a port above 1023 with ${portSwitch}${otherwise}.`);
  if (NOT_OURS.has(code)) return new Error(`${host} is not an address of this machine; check ${hostKey}.`);
  return thrown;
}

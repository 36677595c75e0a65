/** Whether the admin port responds to a request with this Host header; undefined for a request without one. */
export type HostRule = (host: string | undefined) => boolean;

const NAME_AND_PORT = /^(\[[^\]]*\]|[^:[\]]*)(?::\d*)?$/;
const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/**
 * Prevents DNS rebinding: a web site could point its own name at this address and read the port through a visitor's browser.
 * A site's name always has a dot. So IP addresses and names without a dot (localhost, a container's name) are always allowed,
 * and names with a dot only if they are in `names`. The port in the header is ignored.
 */
export function allowedHosts(names: readonly string[]): HostRule {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (host) => {
    // Browsers always send Host; only an HTTP/1.0 client may leave it out.
    if (host === undefined) return true;
    const name = NAME_AND_PORT.exec(host.toLowerCase())?.[1];
    if (name === undefined || name === "") return false;
    return !name.includes(".") || IP_ADDRESS.test(name) || known.has(name);
  };
}

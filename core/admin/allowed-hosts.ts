/** What a Host header may name. */
export type HostRule = (host: string | undefined) => boolean;

const NAME_AND_PORT = /^(\[[^\]]*\]|[^:[\]]*)(?::\d*)?$/;
const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/**
 * Guards against DNS rebinding, where a web site points a name of its own at this address and so reads it through a visitor's
 * browser. An attacker has no name without a dot (localhost, a container's name) and no IP address, so these are answered,
 * on whatever address the port listens; names with a dot only where the config knows them. The port never matters.
 */
export function allowedHosts(names: readonly string[]): HostRule {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (host) => {
    // HTTP/1.0 without a Host: no browser.
    if (host === undefined) return true;
    const name = NAME_AND_PORT.exec(host.toLowerCase())?.[1];
    if (name === undefined || name === "") return false;
    return !name.includes(".") || IP_ADDRESS.test(name) || known.has(name);
  };
}

import type { EndpointUrl } from "./endpoint.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Parses a replica's address. Throws an Error whose message says what to write instead; it never quotes the text, which may
 * hold a secret.
 *
 * An SDK's base URL is accepted too: a "/v1" at the end is not part of the base path, because API paths begin with it.
 *
 * @example
 * const { hostname, port } = parseEndpointUrl("http://gpu1:8000");
 */
export function parseEndpointUrl(text: string): EndpointUrl {
  const url = parse(text);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  if (defaultPort === undefined) throw new Error(NOT_HTTP);
  if (url.username !== "" || url.password !== "")
    throw new Error("An endpoint URL can't hold a user name or password: leave out everything up to the @.");
  if (text.includes("?") || text.includes("#"))
    throw new Error("An endpoint URL ends with its path: leave out the query (?) and the fragment (#).");
  const port = url.port === "" ? defaultPort : Number(url.port);
  if (port === 0) throw new Error("Port 0 can't be connected to: write the port the replica listens on.");
  const basePath = url.pathname.replace(/\/+$/, "").replace(/\/+v1$/, "");
  return {
    href: `${url.protocol}//${url.host}${basePath}`,
    // Connections are opened to an IPv6 address without its brackets.
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    isTls: url.protocol === "https:",
    hostHeader: url.host,
    basePath,
  };
}

interface Written {
  readonly url: string;
  readonly name?: string | undefined;
  /** Of data-parallel ranks, which are replicas of their own behind one host. */
  readonly ports?: readonly number[] | undefined;
}

/**
 * The endpoints that an address stands for, with their names: one, or one for each of its ports. Throws like parseEndpointUrl.
 *
 * @example
 * const names = endpointsAt({ url: "http://gpu1", ports: [8000, 8001] }).map(({ name }) => name); // gpu1-rank-0, gpu1-rank-1
 */
export function endpointsAt({
  url: text,
  name,
  ports,
}: Written): readonly { readonly name: string; readonly url: EndpointUrl }[] {
  const url = parseEndpointUrl(text);
  if (ports === undefined) return [{ name: name ?? endpointName(url), url }];
  if (/^[^/]*\/\/[^/]*:\d+(\/|$)/.test(text)) throw new Error("Beside ports, leave out the port in the URL.");
  const { isTls, hostHeader, hostname, basePath } = url;
  const base = name ?? asName(`${hostname}${basePath}`);
  return ports.map((port, rank) => ({
    name: `${base}-rank-${rank}`,
    url: parseEndpointUrl(`${isTls ? "https" : "http"}://${hostHeader}:${port}${basePath}`),
  }));
}

const LAST_PORT = 65_535;
const NOT_HTTP = "An endpoint URL starts with http:// or https://, like http://gpu1:8000.";

function parse(text: string): URL {
  if (!/^https?:\/\/[^/]/i.test(text)) throw new Error(NOT_HTTP);
  // URL would silently remove or convert them.
  if (/[\s\\]/.test(text)) throw new Error("An endpoint URL holds no spaces, line breaks or backslashes: remove them.");
  if (Number(/^[^/]*\/\/[^/?#]*:(\d+)(?![^/?#])/.exec(text)?.[1]) > LAST_PORT)
    throw new Error(`The port of a URL is a number from 1 to ${LAST_PORT}.`);
  try {
    return new URL(text);
  } catch {
    throw new Error("This is not a URL: write scheme, host and port, like http://gpu1:8000 or http://[::1]:8000.");
  }
}

/** The default name of an endpoint, made from its address; for example "gpu1-8000" for http://gpu1:8000. */
export function endpointName(address: { readonly hostname: string; readonly port: number; readonly basePath: string }): string {
  const { hostname, port, basePath } = address;
  return asName(`${hostname}-${port}${basePath}`);
}

function asName(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
}

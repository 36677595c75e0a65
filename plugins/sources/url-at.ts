import type { EndpointUrl } from "../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../core/contract/endpoint-url.ts";

/** A server of its own on a replica's host. */
export function urlAt(hostname: string, port: number, scheme: "http" | "https"): EndpointUrl {
  return parseEndpointUrl(`${scheme}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`);
}

import type { Resolver } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { endpointName } from "../../core/contract/endpoint-url.ts";
import { thrownCode } from "../../core/contract/thrown-text.ts";

/** A server as name servers know it. */
export interface FoundServer {
  readonly name: string;
  readonly url: string;
}

export interface Lookup {
  /** Sorted by name, so that the order of records means nothing. */
  readonly servers: readonly FoundServer[];
  /** The shortest time for which an answer holds. */
  readonly ttlSeconds: number;
}

interface Address {
  readonly address: string;
  readonly ttl: number;
}

type AddressRecord = "A" | "AAAA";

/** The servers at the addresses of a name. Rejects when there are none, or nobody answers. */
export async function lookUpAddresses(resolver: Resolver, host: string, record: AddressRecord, port: number): Promise<Lookup> {
  const addresses = await addressesOf(resolver, host, record);
  return lookupOf(addresses.map((each) => ({ ...each, port, label: each.address })));
}

/**
 * The servers that the SRV records of a name list. Priorities and weights are not read: the router weighs by load. A target without
 * an address is left out: its server has just gone, or has not come yet.
 */
export async function lookUpServices(resolver: Resolver, host: string): Promise<Lookup> {
  const records = await resolver.resolveSrv(host);
  const found = await Promise.all(
    records.map(async ({ name, port }) => {
      const addresses = await targetAddresses(resolver, name);
      const isOnly = addresses.length === 1;
      return addresses.map((each) => ({ ...each, port, label: isOnly ? name : `${name}-${each.address}` }));
    }),
  );
  return lookupOf(found.flat());
}

/** Of IPv4, or of IPv6 for a target that has no other. */
async function targetAddresses(resolver: Resolver, target: string): Promise<readonly Address[]> {
  for (const record of ["A", "AAAA"] as const) {
    try {
      return await addressesOf(resolver, target, record);
    } catch (thrown) {
      // A name server has said that there are no such records.
      if (!["ENODATA", "ENOTFOUND"].includes(thrownCode(thrown))) throw thrown;
    }
  }
  return [];
}

function addressesOf(resolver: Resolver, host: string, record: AddressRecord): Promise<readonly Address[]> {
  return record === "A" ? resolver.resolve4(host, { ttl: true }) : resolver.resolve6(host, { ttl: true });
}

interface Server extends Address {
  readonly port: number;
  /** What its name is made from. */
  readonly label: string;
}

function lookupOf(servers: readonly Server[]): Lookup {
  if (servers.length === 0) throw new Error("The answer has no addresses.");
  const named = new Map<string, FoundServer>();
  for (const { address, port, label } of servers) {
    // One "-" for each ":", so that the names of two addresses differ.
    const name = endpointName({ hostname: label.replaceAll(":", "-"), port, basePath: "" });
    named.set(name, { name, url: `http://${isIPv6(address) ? `[${address}]` : address}:${port}` });
  }
  return {
    servers: [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ttlSeconds: Math.min(...servers.map(({ ttl }) => ttl)),
  };
}

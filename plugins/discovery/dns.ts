import { Resolver } from "node:dns/promises";
import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineDiscovery } from "../../core/contract/plugin.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { type FoundServer, type Lookup, lookUpAddresses, lookUpServices } from "./dns-lookup.ts";

/** A lookup that takes longer has failed, whatever the runtime's resolver still tries. */
const LONGEST_MS = 10_000;

const seconds = z.number().min(0.1).max(86_400);

const shared = {
  /** The whole name: search domains are not tried. */
  host: z.string().min(1),
  labels: z.record(z.string(), z.string()).default({}),
  /** Asked again after the records' TTL, but not sooner than this … */
  minSeconds: seconds.default(1),
  /** … and not later than this. */
  maxSeconds: seconds.default(30),
  /** Addresses of name servers, with a port or without; by default the system's. */
  servers: z.array(z.string().min(1)).min(1).optional(),
};

const options = z.discriminatedUnion("record", [
  // One kind of address at a time: a replica with an A and an AAAA record would be two endpoints.
  z.strictObject({ record: z.enum(["A", "AAAA"]), port: z.int().min(1).max(65_535), ...shared }),
  z.strictObject({ record: z.literal("SRV"), ...shared }),
]);

type Found = (specs: readonly EndpointSpec[]) => void;

/** The last answer, and to which question. */
interface KeptAnswer {
  question: string;
  servers: readonly FoundServer[];
}

/**
 * Each answer is the whole list. An address that is not in it any more gets no new requests, and those under way there finish. When
 * nobody answers, or the name has no records, the last answer stays, with one warning: probes know better than a broken resolver
 * which replicas are up. The replicas are spoken to by address, so without TLS.
 */
export default defineDiscovery({
  type: "dns",
  summary: "The endpoints at the addresses of a DNS name, asked for again after their TTL.",
  options,
  create(asked, { clock, log, signal, keep }) {
    const { host, labels, minSeconds, maxSeconds, servers } = asked;
    if (minSeconds > maxSeconds) throw new Error("minSeconds is above maxSeconds: make it the smaller one.");
    let resolver = resolverOf(servers);
    const question = JSON.stringify([host, asked.record, asked.record === "SRV" ? 0 : asked.port]);
    // A reload of the config must not empty the pool until the first answer comes.
    const kept = keep(1, (): KeptAnswer => ({ question: "", servers: [] }));
    let last = "";
    let failures = 0;
    let fault = "";
    let answeredAtMs = Number.NaN;
    let cancel = () => {};

    const tell = (servers: readonly FoundServer[], found: Found) => {
      last = JSON.stringify(servers);
      found(servers.map((server) => ({ ...server, labels })));
    };
    const take = (lookup: Lookup, found: Found) => {
      if (failures > 0) log.info("The name is resolved again", { host });
      failures = 0;
      answeredAtMs = clock.now();
      if (JSON.stringify(lookup.servers) === last) return;
      log.info("The name has new addresses", { host, endpoints: lookup.servers.length });
      kept.question = question;
      kept.servers = lookup.servers;
      tell(lookup.servers, found);
    };
    const failed = (thrown: unknown) => {
      fault = thrownMessage(thrown);
      if (failures === 0) log.warn("The name can't be resolved; the last addresses stay", { host, cause: fault });
      failures += 1;
    };
    const lookUp = () => {
      // A new one each time: on Bun a resolver remembers its answers, and gives them out a little too long.
      resolver = resolverOf(servers);
      if (asked.record === "SRV") return lookUpServices(resolver, host);
      return lookUpAddresses(resolver, host, asked.record, asked.port);
    };
    const inTime = <T>(answer: Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const stop = afterAwake(clock, LONGEST_MS, () => reject(new Error("Nobody answers.")));
        answer.then(resolve, reject).finally(stop);
      });
    return {
      get trouble() {
        return failures === 0 ? undefined : { text: `The name ${host} can't be resolved: ${fault}`, sinceMs: answeredAtMs };
      },
      start(found) {
        const ask = async () => {
          let pauseSeconds = minSeconds;
          try {
            const lookup = await inTime(lookUp());
            if (signal.aborted) return;
            take(lookup, found);
            pauseSeconds = lookup.ttlSeconds;
          } catch (thrown) {
            if (signal.aborted) return;
            failed(thrown);
            pauseSeconds = minSeconds * 2 ** Math.min(failures, 16);
          }
          cancel = clock.after(Math.max(minSeconds, Math.min(pauseSeconds, maxSeconds)) * 1_000, () => void ask());
        };
        if (kept.question === question) tell(kept.servers, found);
        void ask();
      },
      dispose() {
        cancel();
        resolver.cancel();
      },
    };
  },
});

/** Throws an Error for servers that are no addresses. */
function resolverOf(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  try {
    if (servers !== undefined) resolver.setServers(servers);
  } catch {
    throw new Error("servers has something that is no address: write 10.0.0.10, 10.0.0.10:5353 or [fd00::10]:5353.");
  }
  return resolver;
}

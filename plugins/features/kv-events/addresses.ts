import type { Endpoint, EndpointUrl } from "../../../core/contract/endpoint.ts";
import type { KvEventsSettings } from "./kv-events-config.ts";
import type { EventAddress } from "./publisher.ts";

/** The most engines behind one replica. */
const MOST_RANKS = 64;
const MOST_PORT = 65_535;

/** The address of a replica's events by the config; undefined where the replica itself has to be asked. Throws an Error for a bad label. */
export function configuredAddresses(endpoint: Endpoint, settings: KvEventsSettings): readonly EventAddress[] | undefined {
  const { label, replayLabel, port, replayPort, ranks } = settings;
  const said = label === "" ? undefined : endpoint.labels[label];
  const replaySaid = replayLabel === "" ? undefined : endpoint.labels[replayLabel];
  if (said === undefined && port === 0) return undefined;
  const first = said === undefined ? at(endpoint.url.hostname, port) : addressIn(said, endpoint, label);
  const replay = replaySaid === undefined ? replayAt(endpoint, replayPort) : addressIn(replaySaid, endpoint, replayLabel);
  return Array.from({ length: ranks }, (_, rank) => ({
    rank,
    url: nextTo(first, rank),
    replayUrl: replay && nextTo(replay, rank),
  }));
}

/**
 * The addresses in what a replica answers to GET /kv_event_sources: an object with a publisher's config for each rank (vLLM 0.32), or a list
 * of them, perhaps in `sources`. Only ports are taken from it: events come from the replica's own host. Throws an Error for what is no such
 * document, and where nothing is published.
 */
export function toldAddresses(text: string, endpoint: Endpoint): readonly EventAddress[] {
  const sources = sourcesIn(JSON.parse(text) as unknown);
  if (sources.length === 0) throw new Error("it publishes no events: start its engine with --kv-events-config");
  if (sources.length > MOST_RANKS) throw new Error(`it names more than ${MOST_RANKS} engines`);
  const found = sources.map(({ rank, source }) => {
    if (source["enable_kv_cache_events"] === false || source["publisher"] === "null")
      throw new Error("it publishes no events: set enable_kv_cache_events in its --kv-events-config");
    const port = portIn(source["endpoint"]);
    if (port === undefined)
      throw new Error("its events are not on TCP: give its --kv-events-config an endpoint such as tcp://*:5557");
    return { rank, port, replayPort: portIn(source["replay_endpoint"]) };
  });
  // vLLM adds the rank to the port that its config names.
  const isShared = new Set(found.map(({ port }) => port)).size < found.length;
  return found.map(({ rank, port, replayPort }) => {
    const more = isShared ? rank : 0;
    return {
      rank,
      url: at(endpoint.url.hostname, port + more),
      replayUrl: replayPort === undefined ? undefined : at(endpoint.url.hostname, replayPort + more),
    };
  });
}

interface Source {
  readonly rank: number;
  readonly source: Readonly<Record<string, unknown>>;
}

function sourcesIn(document: unknown): readonly Source[] {
  if (typeof document !== "object" || document === null) throw new Error("its list of event sources can't be read");
  const wrapped = (document as Readonly<Record<string, unknown>>)["sources"];
  const inner = Array.isArray(wrapped) ? wrapped : document;
  return Object.entries(inner as Readonly<Record<string, unknown>>).flatMap(([key, value]) => {
    if (typeof value !== "object" || value === null) return [];
    const source = value as Readonly<Record<string, unknown>>;
    const rank = Number(source["data_parallel_rank"] ?? key);
    return [{ rank: Number.isSafeInteger(rank) && rank >= 0 && rank <= MOST_PORT ? rank : 0, source }];
  });
}

function portIn(endpoint: unknown): number | undefined {
  const [, port] = typeof endpoint === "string" ? (/^tcp:\/\/.*:(\d{1,5})$/.exec(endpoint) ?? []) : [];
  const number = Number(port);
  return number > 0 && number <= MOST_PORT ? number : undefined;
}

const LABEL = /^(?:(?:tcp:\/\/)?(\[[0-9a-f:.]+\]|[A-Za-z0-9._*-]+):)?(\d{1,5})$/i;

/** A label has a port, or an address. */
function addressIn(value: string, endpoint: Endpoint, label: string): EndpointUrl {
  const [, host = "*", port] = LABEL.exec(value) ?? [];
  const number = Number(port);
  if (!(number > 0 && number <= MOST_PORT))
    throw new Error(`its label ${label} is no port and no address such as tcp://host:5557`);
  return at(host === "*" ? endpoint.url.hostname : host.replace(/^\[|\]$/g, ""), number);
}

function replayAt({ url }: Endpoint, port: number): EndpointUrl | undefined {
  return port === 0 ? undefined : at(url.hostname, port);
}

function nextTo(url: EndpointUrl, more: number): EndpointUrl {
  return at(url.hostname, url.port + more);
}

function at(hostname: string, port: number): EndpointUrl {
  if (port > MOST_PORT) throw new Error(`with a port for each of its ranks its events are at ports beyond ${MOST_PORT}`);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return { href: `tcp://${host}:${port}`, hostname, port, isTls: false, hostHeader: `${host}:${port}`, basePath: "" };
}

import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { addressOf } from "../../core/pool/gateway.ts";
import type { Facts } from "../../core/state/facts.ts";
import type { ListValue, ProcessingRequest, Struct, Value } from "./ext-proc.ts";

/** Where gateways say which endpoints a request may go to, and which one served it. */
const SUBSET_NAMESPACE = "envoy.lb.subset_hint";
const SUBSET_KEY = "x-gateway-destination-endpoint-subset";
const SERVED_NAMESPACE = "envoy.lb";
const SERVED_KEY = "x-gateway-destination-endpoint-served";
/** The namespace of attributes that the filter's config asks for. */
const ATTRIBUTES = "envoy.filters.http.ext_proc";

const ADDRESSABLE = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/i;

/** A tunnel's name, which some gateways give, is none. */
const ADDRESS = /^(?:[\d.]+|\[[0-9a-f:.]+\]):\d+$/i;

/** Whether a gateway can send to this endpoint: its address is an IP address, and it has no base path in front of the API's. */
function isAddressable({ url: { hostname, basePath } }: Endpoint): boolean {
  return basePath === "" && ADDRESSABLE.test(hostname);
}

/** Addresses that the request may go to; undefined for all. */
export function subsetOf({ metadata_context }: ProcessingRequest): ReadonlySet<string> | undefined {
  const hint = metadata_context?.filter_metadata?.[SUBSET_NAMESPACE]?.fields?.[SUBSET_KEY];
  return hint === undefined ? undefined : new Set(textsOf(hint));
}

/** The facts without endpoints that a gateway can't be told of, or that are not in the subset. Throws RouterError if none is left. */
export function factsWithin(facts: Facts, subset: ReadonlySet<string> | undefined): Facts {
  const { endpoints } = facts;
  if (endpoints.length === 0 || (subset === undefined && endpoints.every(isAddressable))) return facts;
  const within = endpoints.filter((each) => isAddressable(each) && (subset === undefined || subset.has(addressOf(each))));
  if (within.length === 0) throw subset === undefined ? notAddressable() : outsideSubset();
  return { ...facts, endpoints: within };
}

/**
 * The address that served, in the gateway's words; undefined if it does not say. The header comes last: where the gateway leaves it
 * alone, it is the replica's, which may name another one.
 */
export function servedAddress(request: ProcessingRequest, header: string | undefined): string | undefined {
  const said = request.metadata_context?.filter_metadata?.[SERVED_NAMESPACE]?.fields?.[SERVED_KEY]?.string_value;
  const upstream = attribute(request, "upstream.address");
  return said || (upstream !== undefined && ADDRESS.test(upstream) ? upstream : header);
}

/** What the gateway says of how the response came about, such as "via_upstream"; undefined if its config does not ask for it. */
export function responseDetails(request: ProcessingRequest): string | undefined {
  return attribute(request, "response.code_details");
}

/** The client's address, as the gateway has it. */
export function clientAddress(forwardedFor: string | undefined): string {
  return forwardedFor?.split(",").at(-1)?.trim() ?? "";
}

/** A response header in which some gateways say it. */
export const SERVED_HEADER = SERVED_KEY;

function attribute({ attributes }: ProcessingRequest, name: string): string | undefined {
  return attributes?.[ATTRIBUTES]?.fields?.[name]?.string_value || undefined;
}

/** A list, or a text with commas. */
function textsOf({ list_value, string_value }: Value): readonly string[] {
  const texts = list_value === undefined ? [string_value ?? ""] : valuesOf(list_value);
  return texts
    .flatMap((text) => text.split(","))
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

const valuesOf = ({ values = [] }: ListValue) => values.map(({ string_value = "" }) => string_value);

/** `dynamic_metadata` that names the destination. */
export function destinationMetadata(destination: string): Struct {
  const fields = { [DESTINATION]: { string_value: destination } };
  return { fields: { [SERVED_NAMESPACE]: { struct_value: { fields } } } };
}

/** The header, and the key of the metadata, that name the endpoints to try, in their order. */
export const DESTINATION = "x-gateway-destination-endpoint";

function outsideSubset(): RouterError {
  const message = "No replica of the pool is among those that the gateway allows for this request; try again shortly.";
  return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
}

function notAddressable(): RouterError {
  const message = "A gateway needs replicas as http://IP:PORT, and no replica is one; change their addresses in the config.";
  return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
}

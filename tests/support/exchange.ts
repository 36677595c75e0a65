import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import type { KeepAliveRule } from "../../core/stages/keep-alive.ts";
import { Exchange, type ExchangeOwner } from "../../core/stages/replica-exchange.ts";
import type { Draft } from "../../core/stages/rewrite.ts";
import { makeEndpoint, makeRequest } from "./endpoints.ts";
import { MemoryPlane } from "./memory-plane.ts";
import type { MemoryUpstream } from "./memory-upstream.ts";
import { RecordedResponse } from "./recorded-response.ts";

export interface BegunExchange {
  readonly plane: MemoryPlane;
  readonly upstream: MemoryUpstream;
  readonly response: RecordedResponse;
  readonly exchange: Exchange;
  /** What the owner was told. */
  readonly told: readonly string[];
}

export interface ExchangeParts {
  readonly endpoint?: Endpoint;
  readonly plane?: MemoryPlane;
  readonly request?: InferenceRequest;
  readonly draft?: Partial<Draft>;
  readonly openingEvents?: number;
  readonly keepAlive?: KeepAliveRule;
  /** Whether the owner lets responses be passed on; else it drops them. */
  readonly isRelayed?: boolean;
  /** What else the owner does. */
  readonly owner?: (told: string[]) => Partial<ExchangeOwner>;
}

const DRAFT: Draft = { method: "POST", pathAndQuery: "/", lines: "", credentialLines: "", body: [] };

/** One try, begun, but not yet accepted. */
export function beginExchange(parts: ExchangeParts): BegunExchange {
  const { endpoint = makeEndpoint(0), isRelayed = true, openingEvents = 0, keepAlive } = parts;
  const { plane = new MemoryPlane({ endpoints: [endpoint] }), request = makeRequest({ isStream: true }) } = parts;
  const response = new RecordedResponse();
  const told: string[] = [];
  const relay = (what: string, status: number): boolean => {
    told.push(what);
    if (!isRelayed) exchange.drop(status);
    return isRelayed;
  };
  const owner: ExchangeOwner = {
    responded: (status) => relay(`responded ${status}`, status),
    missedTarget: () => relay("missed the target", 404),
    delivered: () => true,
    completed: () => void told.push("completed"),
    failed: (failure, isDelivered) => void told.push(`failed ${failure} ${isDelivered ? "delivered" : "not delivered"}`),
    ...parts.owner?.(told),
  };
  const draft = { ...DRAFT, ...parts.draft };
  const sending = { request, headAtMs: 0, draft, openingEvents, keepAlive, config: plane.config, plane };
  const connection = plane.poolOf(endpoint).take(true)!;
  const exchange: Exchange = new Exchange(endpoint, connection, sending, response, owner, plane.clock.now());
  exchange.begin();
  return { plane, upstream: plane.upstreamOf(endpoint), response, exchange, told };
}

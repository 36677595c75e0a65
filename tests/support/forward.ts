import type { Draft } from "../../core/contract/draft.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Parser } from "../../core/contract/parser.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { Forward } from "../../core/forward/forward.ts";
import { makeDecision } from "../../core/test-kit/records.ts";
import type { Ticket } from "../../core/ticket.ts";
import { makeEndpoint, makeRequest } from "./endpoints.ts";
import { MemoryParts, type MemoryPartsOptions, makeRun } from "./memory-parts.ts";
import type { MemoryUpstream } from "./memory-upstream.ts";
import type { RecordedResponse } from "./recorded-response.ts";

export interface ForwardOptions extends MemoryPartsOptions {
  /** Where the request is to go, in this order. Default one. */
  readonly endpoints?: readonly Endpoint[];
  /** Default new ones, made with these options. */
  readonly parts?: MemoryParts;
  readonly request?: InferenceRequest;
  readonly draft?: Partial<Draft>;
  /** Room in front of the body. Default none. */
  readonly frontBytes?: number;
  readonly parser?: Partial<Pick<Parser, "dialect" | "openingEvents">>;
}

export interface ForwardWorld {
  readonly parts: MemoryParts;
  /** Of the first endpoint. */
  readonly upstream: MemoryUpstream;
  readonly response: RecordedResponse;
  readonly ticket: Ticket;
  readonly forward: Forward;
  /** How the owner was told that it is over. */
  readonly ends: readonly string[];
}

const PATH = "/v1/chat/completions";
const DRAFT: Draft = { method: "POST", pathAndQuery: PATH, lines: "", credentialLines: "", body: [], changedBy: [] };

/** A request on its way to the endpoints; not begun. */
export function makeForward(options: ForwardOptions = {}): ForwardWorld {
  const { endpoints = [makeEndpoint(0)], request = makeRequest({ isStream: true }) } = options;
  const { parts = new MemoryParts({ ...options, endpoints }) } = options;
  const run = makeRun(parts, "{}");
  const { ticket } = run;
  ticket.request = request;
  const ends: string[] = [];
  const owner = {
    bodyDelivered() {},
    completed: () => void ends.push("complete"),
    failed: ({ code }: { code: string }) => void ends.push(code),
    unreached: ({ code }: { code: string }) => void ends.push(code),
    missedTarget: () => void ends.push("missed the target"),
  };
  const { parser = {}, frontBytes = 0 } = options;
  const { plugin, ...named } = run.parser!;
  run.dialect = parser.dialect ?? "openai";
  run.parser = { ...named, plugin: { ...plugin, responses: {}, ...parser } };
  Object.defineProperty(run.buffer, "frontBytes", { value: frontBytes });
  const leg = makeDecision({ endpoints, order: endpoints }).legs[0]!;
  const forward = new Forward(run, request, leg, { ...DRAFT, ...options.draft }, owner);
  return { parts, upstream: parts.upstreamOf(endpoints[0]!), response: run.response as RecordedResponse, ticket, forward, ends };
}

/** The same, begun, but not yet accepted. */
export function beginForward(options: ForwardOptions = {}): ForwardWorld {
  const world = makeForward(options);
  world.forward.begin(world.parts.clock.now());
  return world;
}

/** Its tries, each in two words. */
export const shownTries = ({ attempts }: Ticket) => attempts.map(({ endpoint, result }) => `${endpoint} ${result}`);

import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Limits, RetrySettings } from "../../../core/settings.ts";
import { makeEndpoints, makeRequest } from "../../support/endpoints.ts";
import { type ForwardOptions, type ForwardWorld, makeForward } from "../../support/forward.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { chunkOf, jsonAnswer, STREAM_HEAD } from "../../support/scripted-replica.ts";

export const ENDPOINTS = makeEndpoints(3);

export const [E0, E1, E2] = ENDPOINTS as [Endpoint, Endpoint, Endpoint];

const CONNECT_MS = 1_000;

const RESPONSE_MS = 2_000;

export const OK = jsonAnswer('{"choices":[{"index":0}],"ok":true}');

/** A request on its way to e0, then e1, then e2; not begun. */
export const setUp = (options: ForwardOptions = {}): ForwardWorld =>
  makeForward({
    endpoints: ENDPOINTS,
    request: makeRequest({ promptTokens: 100 }),
    draft: { body: [Buffer.from("{}")] },
    ...options,
  });

export const makeParts = (limits: Partial<Limits> = {}, retries: Partial<RetrySettings> = {}) =>
  new MemoryParts({
    endpoints: ENDPOINTS,
    limits: { connectTimeoutMs: CONNECT_MS, responseTimeoutMs: RESPONSE_MS, ...limits },
    retries,
  });

/** What a replica does with the newest connection to it. */
export type Conduct = (world: ForwardWorld, endpoint: Endpoint) => void | Promise<void>;

const sends =
  (bytes: string): Conduct =>
  ({ parts }, endpoint) =>
    parts.upstreamOf(endpoint).send(bytes);

/** A stream that begins, and then does this. */
const breaks =
  (finish: (socket: ReturnType<MemoryParts["upstreamOf"]>["socket"]) => void): Conduct =>
  ({ parts }, endpoint) => {
    parts.upstreamOf(endpoint).send(STREAM_HEAD + chunkOf("data: 1\n\n"));
    finish(parts.upstreamOf(endpoint).socket);
  };

export const CONDUCTS = {
  refuses: ({ parts }, endpoint) => parts.upstreamOf(endpoint).refuse(),
  never: ({ parts }) => parts.clock.advance(CONNECT_MS + 100),
  answers: sends(OK),
  babbles: sends("HELLO\r\n\r\n"),
  full: sends(jsonAnswer('{"error":"full"}', "503 Service Unavailable", "Retry-After: 7\r\n")),
  limits: sends(jsonAnswer('{"error":"full"}', "429 Too Many Requests", "Retry-After: 7\r\n")),
  leaves: ({ parts }, endpoint) => parts.pool.load.replaced(endpoint.slot, false),
  thinks: ({ parts }) => parts.clock.advance(1_000),
  resets: ({ parts }, endpoint) => parts.upstreamOf(endpoint).accept().receiveReset(),
  isSilent({ parts }, endpoint) {
    parts.upstreamOf(endpoint).accept();
    return parts.clock.advance(RESPONSE_MS + 100);
  },
  breaksOff: breaks((socket) => socket.receiveReset()),
  breaksChunks: breaks((socket) => socket.receive(Buffer.from("zz\r\n"))),
} satisfies Readonly<Record<string, Conduct>>;

/** What is so before the request comes. */
export type Before = (parts: MemoryParts) => void | Promise<void>;

export const isSaturated =
  (endpoint: Endpoint): Before =>
  (parts) =>
    void parts.upstreamOf(endpoint).take(true);

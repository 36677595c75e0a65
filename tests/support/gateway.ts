import { PbfReader, PbfWriter } from "pbf";
import { checkPages } from "../../apps/admin/pages.ts";
import { type EppServer, startEpp } from "../../apps/epp/epp-server.ts";
import {
  type HeaderMutation,
  type ProcessingRequest,
  type ProcessingResponse,
  readHealthCheckResponse,
  readProcessingResponse,
  type Struct,
  writeHealthCheckRequest,
  writeProcessingRequest,
} from "../../apps/epp/ext-proc.ts";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import { isServing } from "../../core/contract/endpoint.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { Router } from "../../core/router.ts";
import { runRouter } from "../../core/run-router.ts";
import { type ClientCall, GrpcClient } from "./grpc-client.ts";
import { type AccessLine, loadTestConfig, readyCount, type TestRouterOptions, waitUntil } from "./router.ts";
import { type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

const PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
const DESTINATION = "x-gateway-destination-endpoint";
export const STREAMED = 1;
export const BUFFERED = 2;
const DUPLEX = 4;

export interface TestEpp {
  readonly port: number;
  readonly router: Router;
  readonly server: EppServer;
  readonly log: readonly AccessLine[];
  close(): Promise<void>;
}

/** A router as an endpoint picker over these replicas, on a free port. */
export async function startTestEpp(urls: readonly string[], options: TestRouterOptions = {}): Promise<TestEpp> {
  const loaded = await loadTestConfig(urls, options);
  const log: AccessLine[] = [];
  const clock: Clock = options.clock ?? systemClock;
  const router = runRouter(loaded, {
    accepts: ({ observers }) => checkPages(observers),
    clock,
    random: Math.random,
    log: options.operatorLog ?? silentLog,
    output: { print: (line) => log.push(JSON.parse(line) as AccessLine), isTerminal: false },
  });
  const server = await startEpp({
    host: "127.0.0.1",
    port: 0,
    limits: loaded.config.settings.limits,
    clock,
    memory: router.gate.memory,
    start: router.start,
    watchOf: (endpoint) => router.pool.connections.of(endpoint),
    nextRequestId: () => router.identity.nextRequestId(),
    isReady: () => router.pool.facts.endpoints.some(isServing),
  });
  await waitUntil(() => readyCount(router) >= (options.ready ?? urls.length));
  return {
    port: server.port,
    router,
    server,
    log,
    async close() {
      await server.drain(0);
      router.close();
    },
  };
}

export interface EppWithClients extends TestEpp {
  readonly replica: ScriptedReplica;
  /** A client of it, or of another port, that ends with it. */
  connected(options?: ConstructorParameters<typeof GrpcClient>[1], port?: number): GrpcClient;
}

/** The same over one replica, with clients. */
export async function startEppWithClients(spec: string): Promise<EppWithClients> {
  const replica = await startScriptedReplica(() => {});
  const epp = await startTestEpp([replica.url], { spec });
  const clients: GrpcClient[] = [];
  return {
    ...epp,
    replica,
    connected(options, port = epp.port) {
      const client = new GrpcClient(port, options);
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      await epp.close();
      await replica.close();
    },
  };
}

export interface GatewayRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined for none. */
  readonly body?: string | Uint8Array | undefined;
  readonly requestMode?: number;
  readonly responseMode?: number;
  /** The subset hint. */
  readonly subset?: readonly string[];
}

/** One request as a gateway tells of it, step by step. */
export class GatewayCall {
  readonly call: ClientCall;
  #seen = 0;
  readonly #request: GatewayRequest;

  constructor(client: GrpcClient, request: GatewayRequest = {}) {
    this.call = client.call(PROCESS);
    this.#request = request;
  }

  /** Messages that were not asked for yet. */
  get waiting(): number {
    return this.call.messages.length - this.#seen;
  }

  /** The next answer. */
  async next(): Promise<ProcessingResponse> {
    await waitUntil(() => this.waiting > 0 || this.call.status !== undefined);
    const message = this.call.messages[this.#seen];
    if (message === undefined) throw new Error(`The call ended with status ${this.call.status}`);
    this.#seen += 1;
    return readProcessingResponse(new PbfReader(message));
  }

  say(message: ProcessingRequest): void {
    const writer = new PbfWriter();
    writeProcessingRequest(message, writer);
    this.call.send(writer.finish());
  }

  head(): void {
    const {
      method,
      path = "/v1/chat/completions",
      headers = {},
      body,
      requestMode = DUPLEX,
      responseMode = DUPLEX,
    } = this.#request;
    const all = {
      ":method": method ?? (body === undefined ? "GET" : "POST"),
      ":path": path,
      ":authority": "gateway",
      ":scheme": "http",
      ...(body !== undefined && { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
      ...headers,
    };
    const { subset } = this.#request;
    this.say({
      request_headers: { headers: headerMap(all), end_of_stream: body === undefined },
      protocol_config: { request_body_mode: requestMode, response_body_mode: responseMode },
      ...(subset !== undefined && { metadata_context: subsetHint(subset) }),
    });
  }

  /** The whole body in pieces of this size. */
  body(pieceBytes = 1000): void {
    const { body: given = "" } = this.#request;
    const body = typeof given === "string" ? Buffer.from(given) : given;
    for (let at = 0; at < body.length; at += pieceBytes) {
      this.say({ request_body: { body: body.subarray(at, at + pieceBytes), end_of_stream: at + pieceBytes >= body.length } });
    }
  }

  /** Head and body; resolves to what the gateway is told of them. */
  async ask(): Promise<Asked> {
    this.head();
    if (this.#request.requestMode === BUFFERED && this.#request.body !== undefined) {
      const early = await this.next();
      if (early.immediate_response !== undefined) return askedOf(early, [early]);
      this.body(Number.POSITIVE_INFINITY);
      const answer = await this.next();
      return askedOf(answer, [answer]);
    }
    this.body();
    const first = await this.next();
    const answers = [first];
    if (first.immediate_response === undefined && this.#request.body !== undefined) {
      do answers.push(await this.next());
      while (answers.at(-1)?.request_body?.response?.body_mutation?.streamed_response?.end_of_stream !== true);
    }
    return askedOf(first, answers);
  }

  responseHead(headers: Readonly<Record<string, string>>, more: Partial<ProcessingRequest> = {}, isEnd = false): void {
    this.say({ response_headers: { headers: headerMap({ ":status": "200", ...headers }), end_of_stream: isEnd }, ...more });
  }

  responseBody(text: string, isEnd: boolean): void {
    this.say({ response_body: { body: Buffer.from(text), end_of_stream: isEnd } });
  }

  /** The pieces of a response's body until its end, as the client would get them. */
  async passedBody(): Promise<string> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const streamed = (await this.next()).response_body?.response?.body_mutation?.streamed_response;
      if (streamed?.body !== undefined) parts.push(streamed.body);
      if (streamed?.end_of_stream === true) return Buffer.concat(parts).toString();
    }
  }
}

/** What the gateway is told of a request. */
export interface Asked {
  /** 0 if the request is to be sent on. */
  readonly status: number;
  /** Headers that are set: on the request, or in the immediate response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
  /** The body that is sent on, or of the immediate response; undefined if the client's own is to be sent. */
  readonly body: string | undefined;
  /** The same as bytes. */
  readonly bytes: Buffer | undefined;
  /** Where it is to go, by the header and by the metadata. */
  readonly destination: string | undefined;
  readonly metadata: string | undefined;
}

function askedOf(first: ProcessingResponse, answers: readonly ProcessingResponse[]): Asked {
  const { immediate_response: own, dynamic_metadata } = first;
  const common = (first.request_headers ?? first.request_body)?.response;
  const headers = headersIn(own?.headers ?? common?.header_mutation);
  const pieces = answers.flatMap(({ request_body }) => {
    const mutation = request_body?.response?.body_mutation;
    return mutation?.streamed_response?.body ?? mutation?.body ?? [];
  });
  const sent = pieces.length === 0 ? undefined : Buffer.concat(pieces);
  const bytes = own === undefined ? sent : Buffer.from(own.body ?? []);
  return {
    status: own?.status?.code ?? 0,
    headers,
    removed: common?.header_mutation?.remove_headers ?? [],
    body: bytes?.toString(),
    bytes,
    destination: headers[DESTINATION],
    metadata: dynamic_metadata?.fields?.["envoy.lb"]?.struct_value?.fields?.[DESTINATION]?.string_value,
  };
}

/** The headers that a change sets. */
export function headersIn(mutation: HeaderMutation | undefined): Readonly<Record<string, string>> {
  const set = mutation?.set_headers ?? [];
  return Object.fromEntries(
    set.map(({ header }) => [header?.key ?? "", Buffer.from(header?.raw_value ?? []).toString("latin1")]),
  );
}

/** The metadata in which a gateway says who served. */
export function servedMetadata(address: string): Partial<ProcessingRequest> {
  const fields = { "x-gateway-destination-endpoint-served": { string_value: address } };
  return { metadata_context: { filter_metadata: { "envoy.lb": { fields } } } };
}

function subsetHint(addresses: readonly string[]): { readonly filter_metadata: Readonly<Record<string, Struct>> } {
  const values = addresses.map((address) => ({ string_value: address }));
  const fields = { "x-gateway-destination-endpoint-subset": { list_value: { values } } };
  return { filter_metadata: { "envoy.lb.subset_hint": { fields } } };
}

function headerMap(headers: Readonly<Record<string, string>>) {
  return { headers: Object.entries(headers).map(([key, value]) => ({ key, raw_value: Buffer.from(value) })) };
}

/** Asks the health service; resolves to the status of the service, or of the call if it failed. */
export async function health(client: GrpcClient, service: string): Promise<string> {
  const call = client.call("/grpc.health.v1.Health/Check");
  const writer = new PbfWriter();
  writeHealthCheckRequest({ service }, writer);
  call.send(writer.finish());
  call.end();
  await waitUntil(() => call.status !== undefined);
  if (call.status !== 0) return `call ${call.status}`;
  return ["UNKNOWN", "SERVING", "NOT_SERVING"][readHealthCheckResponse(new PbfReader(call.messages[0]!)).status ?? 0]!;
}

import type { MemoryBudget } from "../body/memory-budget.ts";
import type { Clock } from "../contract/clock.ts";
import { type Call, type CallReader, GRPC } from "../grpc/call.ts";
import { startGrpcServer } from "../grpc/grpc-server.ts";
import type { Limits } from "../settings.ts";
import { Deadlines, sweepPeriodMs } from "../wire/deadlines.ts";
import { healthMessage, readHealthCheck } from "./answers.ts";
import type { EppShared } from "./epp-shared.ts";
import { Exchange } from "./exchange.ts";

export interface EppOptions extends Pick<EppShared, "start" | "nextRequestId" | "watchOf"> {
  readonly host: string;
  readonly port: number;
  readonly isPortShared?: boolean;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly memory: MemoryBudget;
  /** Whether requests can be served. */
  isReady(): boolean;
}

const SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor";
const SERVING = 1;
const NOT_SERVING = 2;
/** Services that may be asked after, besides "liveness", which is always well. */
const READY_SERVICES: ReadonlySet<string> = new Set(["", "readiness", "ext_proc", SERVICE]);

export interface EppServer {
  readonly host: string;
  readonly port: number;
  /** Open connections of gateways. */
  readonly connections: number;
  /** There are no times in which none is taken. */
  readonly pauses: 0;
  /** It has no TLS of its own. */
  readonly handshakeFailures: undefined;
  useTls(): void;
  useLimits(limits: Limits): void;
  /** Takes no more requests, and lets those under way finish; after `timeoutMs` it ends them. Resolves when the last connection is closed. */
  drain(timeoutMs: number): Promise<void>;
}

/** Serves the endpoint picker's protocol. Rejects with the error of `listen`. */
export async function startEpp(options: EppOptions): Promise<EppServer> {
  const { clock } = options;
  const deadlines = new Deadlines(clock, sweepMs(options.limits));
  const open: EppShared["open"] = new Set();
  const shared = { ...options, deadlines, open };
  const server = await startGrpcServer({
    ...options,
    methods: new Map([
      [`/${SERVICE}/Process`, (call: Call) => new Exchange(call, shared)],
      ["/grpc.health.v1.Health/Check", (call: Call) => healthCheck(call, options.isReady)],
    ]),
  });
  return {
    host: options.host,
    port: server.port,
    pauses: 0,
    handshakeFailures: undefined,
    useTls() {},
    get connections() {
      return server.connections;
    },
    useLimits(limits) {
      shared.limits = limits;
      deadlines.retime(sweepMs(limits));
      server.useLimits(limits);
    },
    async drain(timeoutMs) {
      await server.drain(timeoutMs, () => {
        for (const exchange of [...open]) exchange.stop();
      });
      deadlines.close();
    },
  };
}

function healthCheck(call: Call, isReady: () => boolean): CallReader {
  return {
    message(bytes) {
      const { service = "" } = readHealthCheck(bytes);
      if (service !== "liveness" && !READY_SERVICES.has(service)) return call.end(GRPC.notFound, "There is no such service here");
      call.send(healthMessage({ status: service === "liveness" || isReady() ? SERVING : NOT_SERVING }));
      call.end(GRPC.ok);
    },
    failed: () => call.end(GRPC.invalidArgument),
    ended: () => call.end(GRPC.invalidArgument),
    gone() {},
    drained() {},
  };
}

function sweepMs({ bodyTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs }: Limits): number {
  return sweepPeriodMs([bodyTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs]);
}

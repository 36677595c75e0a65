import type { MemoryBudget } from "../../core/body/memory-budget.ts";
import type { Clock } from "../../core/contract/clock.ts";
import type { Limits } from "../../core/settings.ts";
import { Deadlines, sweepPeriodMs } from "../../core/wire/deadlines.ts";
import type { EppRouter, EppShared } from "./epp-shared.ts";
import { Exchange } from "./exchange.ts";
import { type Call, type CallReader, GRPC } from "./grpc/call.ts";
import { startGrpcServer } from "./grpc/grpc-server.ts";
import { HealthCheck } from "./health-check.ts";

export interface EppOptions extends EppRouter {
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
/** Services that may be asked after, besides "liveness", which is always well. */
const READY_SERVICES: ReadonlySet<string> = new Set(["", "readiness", "ext_proc", SERVICE]);

export interface EppServer {
  readonly host: string;
  readonly port: number;
  /** Open connections of gateways. */
  readonly connections: number;
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
  const isServing = (service: string) => {
    if (service === "liveness") return true;
    return READY_SERVICES.has(service) ? options.isReady() : undefined;
  };
  const server = await startGrpcServer({
    ...options,
    methods: new Map([
      [`/${SERVICE}/Process`, (call: Call) => exchange(call, shared)],
      ["/grpc.health.v1.Health/Check", (call: Call) => new HealthCheck(call, shared, isServing)],
    ]),
  });
  return {
    host: options.host,
    port: server.port,
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

/** Each connection may have as many, and there may be many connections: all together are bounded, too. */
function exchange(call: Call, shared: EppShared): CallReader | undefined {
  if (shared.open.size < shared.limits.clientConnections) return new Exchange(call, shared);
  call.end(GRPC.resourceExhausted, "More requests at once than spec.limits.clientConnections");
  return undefined;
}

function sweepMs({ bodyTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs }: Limits): number {
  return sweepPeriodMs([bodyTimeoutMs, responseTimeoutMs, streamIdleTimeoutMs]);
}

import { CommandError, type Input } from "../../../config/command.ts";
import type { LoadedConfig } from "../../../config/load.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { isServing } from "../../../core/contract/endpoint.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import type { Router } from "../../../core/router.ts";
import { type EppServer, startEpp } from "../../epp/epp-server.ts";
import { numberOf } from "../frame/command.ts";
import { type StartArguments, startArguments } from "./config-source.ts";
import type { Front } from "./front.ts";
import { portError } from "./port-error.ts";
import { urlOf } from "./ports.ts";
import { startFront } from "./start.ts";

const DEFAULT_PORT = 9002;
const NO_TLS =
  "signalbox epp has no TLS of its own: leave out spec.listen.tls, and let it be reached from the gateway alone, on loopback or through a mesh.";

/** `signalbox epp`: runs the router as the endpoint picker of a gateway until SIGINT or SIGTERM. Returns the exit code. */
export function epp(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  return startFront(GRPC, input, registry);
}

const GRPC: Front = {
  arguments: eppArguments,
  accepts: refusePools,
  listen: listenGrpc,
  url: (host, port) => urlOf(host, port).replace("http:", "grpc:"),
};

/** A gateway asks for one of the endpoints that it names itself. */
function refusePools({ slots }: ActiveConfig): void {
  if (slots.choosePool.length > 0)
    throw new Error("signalbox epp serves one pool: leave out the Pool documents, and run one for each pool of the gateway.");
}

function eppArguments(input: Input): StartArguments {
  return { ...startArguments(input), port: numberOf(input, "grpc-port", 0, 65_535, true) ?? DEFAULT_PORT };
}

async function listenGrpc({ config }: LoadedConfig, router: Router): Promise<EppServer> {
  const { listen: address, settings } = config;
  if (address.tls !== undefined) throw new CommandError(1, NO_TLS);
  return startEpp({
    ...address,
    limits: settings.limits,
    clock: systemClock,
    memory: router.gate.memory,
    start: router.start,
    watchOf: (endpoint) => router.pool.connections.of(endpoint),
    nextRequestId: () => router.identity.nextRequestId(),
    isReady: () => !router.identity.isStopping && router.pool.facts.endpoints.some(isServing),
  }).catch(async (thrown) => {
    throw await portError(thrown, address, "--grpc-port", "--host");
  });
}

import { sectionFeature } from "../../../config/feature.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { UpgradedRequest } from "../../../core/contract/slots/upgrade.ts";
import { methodsOf } from "../../../core/intake/served-routes.ts";
import type { Run } from "../../../core/run.ts";
import { asksForWebSocket, checkHandshake, checkOrigin } from "./handshake.ts";
import { MessageDoor } from "./messages/message-door.ts";
import { isNamedInQuery, messageParser, queryParser } from "./sessions/named-model.ts";
import { Tunnel } from "./sessions/tunnel.ts";
import { type TunnelParts, Tunnels } from "./tunnels.ts";
import { websocketsSection } from "./websockets-config.ts";

/** Carries WebSockets to replicas, at the paths of its section; elsewhere clients are told at once to use plain HTTP. */
export default sectionFeature({
  type: "websockets",
  summary: "Carries WebSockets: each message of the Responses API as a request, other sessions by the model that they name.",
  section: websocketsSection,
  create(settings, host) {
    const { clock } = host.services;
    const tunnels = host.keep(1, () => new Tunnels(clock));
    const opened = new WeakMap<Run, MessageDoor | Tunnel>();
    return {
      upgrade(run: Run, request) {
        const { head, ticket, config, response } = run;
        if (!asksForWebSocket(head)) return undefined;
        const { path } = ticket;
        if (settings?.paths.includes(path) !== true || response.takeConnection === undefined) return void refuse(path, config);
        const served = config.routes.get(path)?.get("POST")?.plugin.dialect;
        run.dialect = served ?? run.dialect;
        if (tunnels.open >= settings.max) throw tooMany();
        const parts = { settings, clock, deadlines: tunnels.deadlines, tunnels, pingMs: pingMsOf(config) };
        const isOfMessages = served === "responses";
        const carried = isOfMessages ? new MessageDoor(run, request, parts) : tunnelFor(run, request, parts);
        opened.set(run, carried);
        run.response = carried.client;
        checkHandshake(head);
        checkOrigin(head, config.settings.cors);
        return carried;
      },
      ...(settings !== undefined && { enter: (run: Run) => void opened.get(run)?.entered() }),
      metrics: () => (settings === undefined && tunnels.carried === 0 ? [] : tunnels.metrics()),
      closed: () => tunnels.close(),
    };
  },
});

/** A session whose replica is chosen once: by its query, or by its first message. */
function tunnelFor(run: Run, request: UpgradedRequest, parts: TunnelParts): Tunnel {
  const { config, dialect, ticket, query } = run;
  const isNamed = isNamedInQuery(ticket.path, query);
  const tunnel = new Tunnel(run, request, isNamed, parts);
  run.parser = isNamed ? queryParser(dialect) : messageParser(dialect, config.settings.limits.bodyDepth);
  run.connections = tunnel;
  return tunnel;
}

/** What keeps event streams alive keeps WebSockets alive, too. */
function pingMsOf({ features }: Run["config"]): number {
  const keepAlive = features.get("keepAlive") as { readonly periodMs: number } | undefined;
  return keepAlive?.periodMs ?? Number.POSITIVE_INFINITY;
}

/** Throws RouterError (426) on a served path: a replica would get it as a plain GET. */
function refuse(path: string, config: Run["config"]): void {
  if (methodsOf(path, config) === "") return;
  throw new RouterError("upgrade_required", "This router carries no WebSocket here; send the request over plain HTTP.");
}

function tooMany(): RouterError {
  return new RouterError("overloaded", "As many WebSockets are open as spec.websockets.max allows; try again later.", {
    retryAfterS: 5,
  });
}

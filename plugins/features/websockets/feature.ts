import { sectionFeature } from "../../../config/feature.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import { methodsOf } from "../../../core/intake/served-routes.ts";
import type { Run } from "../../../core/run.ts";
import { asksForWebSocket, checkHandshake, checkOrigin } from "./handshake.ts";
import { isNamedInQuery, messageParser, queryParser } from "./named-model.ts";
import { Tunnel } from "./tunnel.ts";
import { Tunnels } from "./tunnels.ts";
import { websocketsSection } from "./websockets-config.ts";

/** Carries WebSockets to replicas, at the paths of its section; elsewhere clients are told at once to use plain HTTP. */
export default sectionFeature({
  type: "websockets",
  summary: "Carries WebSockets to replicas that serve them, routed by the model in the query or in the first message.",
  section: websocketsSection,
  create(settings, host) {
    const tunnels = host.keep(1, () => new Tunnels());
    const { clock } = host.services;
    return {
      upgrade(run: Run, receiver) {
        const { head, ticket, query, config, response } = run;
        if (!asksForWebSocket(head)) return undefined;
        const { path } = ticket;
        if (settings?.paths.includes(path) !== true || response.takeConnection === undefined) return void refuse(path, config);
        run.dialect = config.routes.get(path)?.get("POST")?.plugin.dialect ?? run.dialect;
        if (tunnels.open >= settings.max) throw tooMany();
        const isNamed = isNamedInQuery(path, query);
        const tunnel = new Tunnel(run, receiver, isNamed, { settings, clock, tunnels });
        run.parser = isNamed ? queryParser(run.dialect) : messageParser(run.dialect, config.settings.limits.bodyDepth);
        run.response = tunnel.client;
        checkHandshake(head);
        checkOrigin(head, config.settings.cors);
        run.connections = tunnel;
        return tunnel;
      },
      ...(settings !== undefined && {
        enter({ connections }: Run) {
          if (connections instanceof Tunnel) connections.entered();
          return undefined;
        },
      }),
      metrics: () => (settings === undefined && tunnels.carried === 0 ? [] : tunnels.metrics()),
    };
  },
});

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

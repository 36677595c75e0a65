import type { RouterError } from "../../../core/contract/errors.ts";
import { respondWithJson } from "../../../core/errors/error-response.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { ServerConnection } from "../../../core/server/server-connection.ts";
import type { OpenConnection } from "../../../core/server/server-shared.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { ClientCounts } from "../../../core/wire/client-counts.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

export const get = (path: string, lines = "") => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`);

/** One connection whose requests wait until the test responds to them. */
export function connection(socket = new FakeSocket()) {
  const clock = new FakeClock();
  const connections = new Set<OpenConnection>();
  const responses: ResponseWriter[] = [];
  const targets: string[] = [];
  /** What the receivers were told, in order. */
  const told: string[] = [];
  const shared = {
    limits: DEFAULT_LIMITS,
    clock,
    clients: new ClientCounts(0),
    memory: { unreadBytes: 0 },
    deadlines: new Deadlines(clock, 250),
    ended: (connection: OpenConnection) => void connections.delete(connection),
    isDraining: false,
    start(head: { target: string }, _length: number, response: ResponseWriter) {
      targets.push(head.target);
      responses.push(response);
      return {
        body: (_chunk: Uint8Array, start: number, end: number) => void told.push(`body ${end - start}`),
        bodyEnd: () => void told.push("bodyEnd"),
        refuse(error: RouterError) {
          told.push(`refuse ${error.code}`);
          if (response.hasStarted) response.abort("");
          else respondWithJson(response, error.status, "", "{}");
        },
        clientGone: () => void told.push("clientGone"),
        drained: () => void told.push("drained"),
        stop: () => void told.push("stop"),
      };
    },
    refuse: (response: ResponseWriter) => respondWithJson(response, 400, "", "{}"),
  };
  const served = new ServerConnection(asSocket(socket), shared);
  connections.add(served);
  const respond = async () => {
    respondWithJson(responses.shift()!, 200, "", "{}");
    await settle();
    return socket.takeWritten().toString("latin1");
  };
  const drain = () => {
    shared.isDraining = true;
    served.beginDrain();
  };
  return { clock, socket, connections, responses, targets, told, respond, drain };
}

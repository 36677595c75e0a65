import type { RequestReceiver } from "./decode.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Can the router carry another protocol on this connection? Called when the head of a GET with Upgrade has come, before `enter`. What is
 * returned gets all bytes behind the head in place of `receiver`, and passes on to that one what is the request's body; undefined: the
 * request is served as if it had no Upgrade. Throws RouterError to refuse it. At most one feature is asked. Only
 * features of the router's own fill this slot: one that carries the request sets the run's parser, response and connections.
 *
 * @example
 * upgrade: (run, receiver) => (run.head.get("upgrade") === "plain" ? receiver : undefined)
 */
export interface UpgradeSlot {
  upgrade?(run: RequestRun, receiver: RequestReceiver): RequestReceiver | undefined;
}

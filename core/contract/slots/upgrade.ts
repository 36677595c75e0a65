import type { RequestReceiver } from "./decode.ts";
import type { RequestRun } from "./request-run.ts";

/** The request that asks for another protocol. It gets what stands for its body, as from any host. */
export interface UpgradedRequest extends RequestReceiver {
  /** It is over, and was answered: what passes on the connection from now on is no part of it. */
  completed(): void;
}

/**
 * Can the router carry another protocol on this connection? Called when the head of a GET with Upgrade has come, before `enter`. What is
 * returned gets all bytes behind the head in place of `request`, and passes on to that one what is the request's body; undefined: the
 * request is served as if it had no Upgrade. Throws RouterError to refuse it. At most one feature is asked. Only
 * features of the router's own fill this slot: one that carries the request sets the run's parser, response and connections. One that
 * sets no parser answers it, and then calls `completed`.
 *
 * @example
 * upgrade: (run, request) => (run.head.get("upgrade") === "plain" ? request : undefined)
 */
export interface UpgradeSlot {
  upgrade?(run: RequestRun, request: UpgradedRequest): RequestReceiver | undefined;
}

import type { Reply } from "../call.ts";

/** Where the tokens of a prompt come from that was not computed here. */
export interface Arrival {
  /** Tokens that were cached here, and tokens that another replica has sent. */
  readonly local: number;
  readonly external: number;
  /** What the response calls cached; undefined for all of them. */
  readonly reported: number | undefined;
}

/** One leg of a pair of prefill and decode: what a request does beside what a single replica does. */
export interface Leg {
  /** One output token, whatever the client wants. */
  readonly isPrefillOnly: boolean;
  /** Before the head of a response. Resolves with false when it has responded itself; rejects with a Problem. */
  prepare(): Promise<boolean>;
  /** After the head of a stream, before the engine. Rejects with a Problem. */
  arrive(): Promise<Arrival | undefined>;
  /** After the last token, before the response's end. Rejects with a Problem. */
  depart(reply: Reply): Promise<void>;
  /** The client has left, or all is over. */
  end(): void;
}

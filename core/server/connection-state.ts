/** Where a connection is between two requests. Each state has its own deadline. */
export type ConnectionState =
  | "idle" // no byte of a request yet
  | "head" // some bytes of a head
  | "body" // head handed on, body arriving
  | "response" // request complete, response under way
  | "skip" // response sent; the short rest of the body is read and thrown away before the next request
  | "linger" // last response sent; whatever still comes is thrown away
  | "closed";

/** How long a connection is still read after its last response: closed at once, it would be reset, and the response lost. */
export const LINGER_MS = 2_000;

/** How much longer than its idle time a connection stays: a request that a client sends just then is served, as the last one. */
export const PARTING_MS = 2_000;

/** While the server stops: how long an idle connection may still bring a request that was on its way. */
export const LAST_CHANCE_MS = 400;

/** So many pipelined requests that need no replica are served in one turn of the event loop. */
export const MOST_IN_A_TURN = 16;

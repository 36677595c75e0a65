/** The request's head as a replica gets it. `protocol`: the one that the client has been promised, "" for none; undefined: no promise was made. */
export function openingHead(head: string, protocol: string | undefined): string {
  const asked = head.slice(0, -2).replace(/^(?:content-length|accept-encoding):.*\r\n/gim, "");
  const own = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  if (protocol === undefined) return asked + own;
  const offered = protocol === "" ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  return asked.replace(/^sec-websocket-(?:protocol|extensions):.*\r\n/gim, "") + offered + own;
}

/** What servers of this API say first: some clients wait for it before they name the model. */
export function sessionCreated(requestId: string, wallMs: number): string {
  const id = `sess-${requestId}`;
  const session = { id, object: "realtime.session" };
  return JSON.stringify({
    type: "session.created",
    event_id: `event-${requestId}`,
    id,
    created: Math.floor(wallMs / 1000),
    session,
  });
}

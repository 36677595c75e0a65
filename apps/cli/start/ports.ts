/** A URL that reaches a server listening on this address from the same machine. */
export function urlOf(host: string, port: number, isTls = false): string {
  return `${isTls ? "https" : "http"}://${hostInUrl(host)}:${port}`;
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Whether only programs of this machine reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
